#include "io/atomic_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <random>
#include <set>
#include <system_error>

namespace pagerank::io {
namespace fs = std::filesystem;

namespace {

/// Renaming over a symbolic link would replace the link: the file is written beside what the link
/// points to, which need not exist yet.
std::string behind_links(fs::path path) {
  std::error_code error;
  for (int links = 0; links < 40 && fs::is_symlink(path, error); ++links) {
    path = path.parent_path() / fs::read_symlink(path, error);
  }
  return path.string();
}

/// Temporary names of the files that are being written.
struct Unfinished {
  std::mutex mutex;
  std::set<std::string> paths;
};
Unfinished& unfinished() {
  static Unfinished files;
  return files;
}

}  // namespace

void remove_unfinished_files() {
  // Never unlocked: the program ends.
  std::unique_lock lock(unfinished().mutex);
  for (const std::string& path : unfinished().paths) std::remove(path.c_str());
  lock.release();  // NOLINT(bugprone-unused-return-value)
}

void AtomicFile::fail(int error) const {
  throw OutputError("cannot write " + path_ + ": " +
                    (error != 0 ? std::strerror(error) : "output error"));
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)), written_path_(path_) {
  std::error_code ignored;
  if (fs::is_directory(path_, ignored)) fail(EISDIR);
  const bool exists = fs::exists(path_, ignored);
  // Names like /dev/stdout can stand for a regular file that others are writing to as well.
  const bool direct = path_.starts_with("/dev/") || path_.starts_with("/proc/") ||
                      (exists && !fs::is_regular_file(path_, ignored));
  if (!direct) {
    if (exists && access(path_.c_str(), W_OK) != 0) fail(errno);
    path_ = behind_links(path_);
    // The number of the process alone is not enough: containers count their own.
    written_path_ =
        path_ + ".tmp" + std::to_string(getpid()) + "-" + std::to_string(std::random_device()());
  }
  {
    const std::lock_guard lock(unfinished().mutex);
    errno = 0;
    stream_.open(written_path_, std::ios::binary | (direct ? std::ios::app : std::ios::trunc));
    if (!stream_) fail(errno);
    if (!direct) unfinished().paths.insert(written_path_);
  }
  if (!direct && exists) {
    fs::permissions(written_path_, fs::status(path_, ignored).permissions(), ignored);
  }
}

AtomicFile::~AtomicFile() {
  if (committed_ || written_path_ == path_) return;
  stream_.close();
  const std::lock_guard lock(unfinished().mutex);
  std::remove(written_path_.c_str());
  unfinished().paths.erase(written_path_);
}

void AtomicFile::commit() {
  errno = 0;
  stream_.close();
  if (!stream_) fail(errno);
  const std::lock_guard lock(unfinished().mutex);
  if (written_path_ != path_ && std::rename(written_path_.c_str(), path_.c_str()) != 0) fail(errno);
  unfinished().paths.erase(written_path_);
  committed_ = true;
}

}  // namespace pagerank::io

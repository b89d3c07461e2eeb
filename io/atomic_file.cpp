#include "io/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <random>
#include <set>
#include <system_error>
#include <utility>

namespace pagerank::io {
namespace fs = std::filesystem;

bool names_descriptor(const std::string& path) {
  return path == "/dev/stdin" || path == "/dev/stdout" || path == "/dev/stderr" ||
         path.starts_with("/dev/fd/") ||
         (path.starts_with("/proc/") && path.find("/fd/") != std::string::npos);
}

namespace {

/// Renaming over a symbolic link would replace the link: the file is written beside what the link
/// points to, which need not exist yet.
std::string behind_links(fs::path path) {
  std::error_code error;
  for (int links = 0; links < 40 && !names_descriptor(path) && fs::is_symlink(path, error);
       ++links) {
    path = path.parent_path() / fs::read_symlink(path, error);
  }
  return path.string();
}

/// Temporary names of the files that are being written.
struct Unfinished {
  /// Held while a name is made, given away or removed, for which a file system may take long.
  std::timed_mutex changing;
  std::mutex mutex;             ///< Never held for long. Guards the
  std::set<std::string> paths;  ///< names, which are here before they are made.
};
Unfinished& unfinished() {
  static Unfinished files;
  return files;
}

void enter(const std::string& path) {
  const std::lock_guard lock(unfinished().mutex);
  unfinished().paths.insert(path);
}
/// What is called so no longer, or never was. Of a program that is about to end it does not return.
void leave(const std::string& path) {
  const std::lock_guard lock(unfinished().mutex);
  unfinished().paths.erase(path);
}

}  // namespace

void remove_unfinished_files() {
  // Never unlocked: the program ends. It does so too if somebody waits for a slow file system; what
  // is half done is removed then, or was renamed and is whole.
  std::unique_lock changing(unfinished().changing, std::chrono::milliseconds(500));
  std::unique_lock lock(unfinished().mutex);
  for (const std::string& path : unfinished().paths) std::remove(path.c_str());
  lock.release();      // NOLINT(bugprone-unused-return-value)
  changing.release();  // NOLINT(bugprone-unused-return-value)
}

AtomicFile::Buffer::int_type AtomicFile::Buffer::overflow(int_type character) {
  errno = 0;
  const int_type result = std::filebuf::overflow(character);
  if (result == traits_type::eof() && error_ == 0) error_ = errno;
  return result;
}

std::streamsize AtomicFile::Buffer::xsputn(const char* text, std::streamsize bytes) {
  errno = 0;
  const std::streamsize written = std::filebuf::xsputn(text, bytes);
  if (written < bytes && error_ == 0) error_ = errno;
  return written;
}

void AtomicFile::fail(int error) const {
  throw OutputError("cannot write " + path_ + ": " +
                    (error != 0 ? std::strerror(error) : "output error"));
}

/// The number of the process alone is not enough: containers count their own.
std::string AtomicFile::temporary_name() const {
  return path_ + ".tmp" + std::to_string(getpid()) + "-" + std::to_string(std::random_device()());
}

/// Leaves written_path_ as it is if the file system, or the system, has no such files.
void AtomicFile::open_unnamed() {
  const fs::path folder = fs::path(path_).parent_path();
  unnamed_ = open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  if (unnamed_ < 0) return;
  const std::string by_descriptor = "/proc/self/fd/" + std::to_string(unnamed_);
  if (access(by_descriptor.c_str(), W_OK) == 0) {
    written_path_ = by_descriptor;
  } else {
    close(std::exchange(unnamed_, -1));
  }
}

void AtomicFile::name_unnamed() {
  const std::string name = temporary_name();
  enter(name);
  if (linkat(AT_FDCWD, written_path_.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0) {
    std::error_code error;
    fs::copy_file(written_path_, name, error);
    if (error) {
      std::remove(name.c_str());
      leave(name);
      fail(error.value());
    }
  }
  written_path_ = name;
}

AtomicFile::AtomicFile(std::string path, Until until)
    : path_(std::move(path)), written_path_(path_) {
  std::error_code ignored;
  if (fs::is_directory(path_, ignored)) fail(EISDIR);
  const bool exists = fs::exists(path_, ignored);
  path_ = behind_links(path_);
  const bool direct = names_descriptor(path_) || (exists && !fs::is_regular_file(path_, ignored));
  if (!direct) {
    if (exists && access(path_.c_str(), W_OK) != 0) fail(errno);
    if (until == Until::nothing) open_unnamed();
    if (written_path_ == path_) written_path_ = temporary_name();
  }
  // (Without the lock: a pipe may let it wait for its reader.)
  const auto open_stream = [&](std::ios::openmode mode) {
    errno = 0;
    if (buffer_.open(written_path_, std::ios::binary | std::ios::out | mode) != nullptr) return;
    const int error = errno;
    if (unnamed_ >= 0) close(unnamed_);
    leave(written_path_);
    fail(error);
  };
  if (direct) {
    open_stream(std::ios::app);
    return;
  }
  {
    const std::lock_guard changing(unfinished().changing);
    if (unnamed_ < 0) enter(written_path_);
    open_stream(std::ios::trunc);
  }
  if (exists) {
    fs::permissions(written_path_, fs::status(path_, ignored).permissions(), ignored);
  }
}

AtomicFile::~AtomicFile() {
  if (unnamed_ >= 0) close(unnamed_);
  if (committed_ || is_direct()) return;
  buffer_.close();
  if (written_path_.starts_with("/proc/self/fd/")) return;  // it is gone
  const std::lock_guard changing(unfinished().changing);
  std::remove(written_path_.c_str());
  leave(written_path_);
}

void AtomicFile::restrict_like(const std::string& path) {
  if (is_direct()) return;
  struct stat theirs {};
  struct stat own {};
  if (stat(path.c_str(), &theirs) != 0 || stat(written_path_.c_str(), &own) != 0) fail(errno);
  mode_t allowed = theirs.st_mode & (S_IRWXG | S_IRWXO);
  if (theirs.st_gid != own.st_gid) {
    const mode_t both = allowed >> 3 & allowed;
    allowed = both << 3 | both;
  }
  // Its owner replaces it one day.
  const mode_t mode = own.st_mode & (allowed | S_IRWXU);
  if (chmod(written_path_.c_str(), mode) != 0) fail(errno);
}

void AtomicFile::flush() {
  if (!stream_.flush()) fail(buffer_.error());
}

void AtomicFile::commit() {
  errno = 0;
  if (buffer_.close() == nullptr || !stream_) fail(buffer_.error() != 0 ? buffer_.error() : errno);
  const std::lock_guard changing(unfinished().changing);
  if (unnamed_ >= 0) name_unnamed();
  if (written_path_ != path_ && std::rename(written_path_.c_str(), path_.c_str()) != 0) fail(errno);
  leave(written_path_);
  committed_ = true;
}

}  // namespace pagerank::io

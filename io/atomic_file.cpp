#include "io/atomic_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace pagerank::io {
namespace fs = std::filesystem;

void AtomicFile::fail(int error) const {
  throw OutputError("cannot write " + path_ + ": " +
                    (error != 0 ? std::strerror(error) : "output error"));
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)), written_path_(path_) {
  std::error_code ignored;
  if (fs::is_directory(path_, ignored)) fail(EISDIR);
  if (!fs::exists(path_, ignored) || fs::is_regular_file(path_, ignored)) {
    // Renaming over a symbolic link would replace the link: write beside what it points to.
    const fs::path target = fs::weakly_canonical(path_, ignored);
    if (!target.empty()) path_ = target.string();
    written_path_ = path_ + ".tmp" + std::to_string(getpid());
  }
  errno = 0;
  stream_.open(written_path_, std::ios::binary | std::ios::trunc);
  if (!stream_) fail(errno);
}

AtomicFile::~AtomicFile() {
  if (committed_ || written_path_ == path_) return;
  stream_.close();
  std::remove(written_path_.c_str());
}

void AtomicFile::commit() {
  errno = 0;
  stream_.close();
  if (!stream_) fail(errno);
  if (written_path_ != path_ && std::rename(written_path_.c_str(), path_.c_str()) != 0) fail(errno);
  committed_ = true;
}

}  // namespace pagerank::io

#include "io/byte_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "io/input_error.hpp"

namespace pagerank::io {

void ByteSource::Close::operator()(gzFile_s* file) const noexcept {
  gzclose_r(file);
}

ByteSource::ByteSource(const std::string& path) : name_(path == "-" ? "<stdin>" : path) {
  const auto fail = [this](int error) { throw InputError(name_ + ": " + std::strerror(error)); };
  const int fd = path == "-" ? dup(STDIN_FILENO) : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail(errno);
  struct stat status {};
  if (fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
    close(fd);
    fail(EISDIR);
  }
  file_.reset(gzdopen(fd, "rb"));
  if (!file_) {
    close(fd);
    fail(ENOMEM);
  }
  descriptor_ = fd;
  gzbuffer(file_.get(), 256 * 1024);
  // gzdirect() looks at the first bytes; zlib copies what is not gzip through unchanged. Files that
  // the kernel makes up as they are read say that they are empty.
  if (!S_ISREG(status.st_mode) || status.st_size <= 0) return;
  to_take_ = static_cast<std::uint64_t>(status.st_size);
  if (path != "-" && gzdirect(file_.get()) == 1) size_ = to_take_;
}

std::string_view ByteSource::peek(std::size_t bytes) {
  peeked_.resize(bytes);
  peeked_.resize(size_ ? read_at(0, peeked_) : read_file(peeked_));
  return peeked_;
}

std::size_t ByteSource::read(std::span<char> buffer) {
  const std::size_t again = std::min(buffer.size(), peeked_.size() - peeked_read_);
  if (again == 0 || size_) return read_file(buffer);
  peeked_.copy(buffer.data(), again, peeked_read_);
  peeked_read_ += again;
  return again + read_file(buffer.subspan(again));
}

std::size_t ByteSource::read_file(std::span<char> buffer) {
  std::size_t total = 0;
  while (total < buffer.size()) {
    const auto ask = static_cast<unsigned>(std::min<std::size_t>(buffer.size() - total, INT_MAX));
    const int got = gzread(file_.get(), buffer.data() + total, ask);
    if (got > 0) {
      total += static_cast<std::size_t>(got);
      // There is no offset in what cannot seek.
      const auto offset = gzoffset(file_.get());
      if (offset >= 0) {
        taken_ = static_cast<std::uint64_t>(offset);
      } else {
        taken_ += static_cast<std::uint64_t>(got);
      }
      continue;
    }
    int error = Z_OK;
    const char* reason = gzerror(file_.get(), &error);
    if (error == Z_ERRNO) throw InputError(name_ + ": " + std::strerror(errno));
    if (error == Z_BUF_ERROR) throw InputError(name_ + ": compressed data is cut off");
    if (error != Z_OK && error != Z_STREAM_END) {
      // zlib puts a name of its own in front of the reason.
      const std::string text = reason;
      const std::size_t colon = text.find(": ");
      throw InputError(name_ + ": damaged compressed data: " +
                       (colon == std::string::npos ? text : text.substr(colon + 2)));
    }
    break;
  }
  return total;
}

std::size_t ByteSource::read_at(std::uint64_t offset, std::span<char> buffer) const {
  std::size_t total = 0;
  while (total < buffer.size()) {
    const ssize_t got = pread(descriptor_, buffer.data() + total, buffer.size() - total,
                              static_cast<off_t>(offset + total));
    if (got > 0) {
      total += static_cast<std::size_t>(got);
    } else if (got == 0) {
      break;
    } else if (errno != EINTR) {
      throw InputError(name_ + ": " + std::strerror(errno));
    }
  }
  std::uint64_t before = taken_;
  while (before < offset + total && !taken_.compare_exchange_weak(before, offset + total)) {
  }
  return total;
}

}  // namespace pagerank::io

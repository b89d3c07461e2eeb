#include "io/byte_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <system_error>
#include <utility>

#include "io/input_error.hpp"

namespace pagerank::io {

struct ByteSource::File {
  explicit File(std::string what) : name(std::move(what)) {}
  ~File() {
    if (stream != nullptr) gzclose_r(stream);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  [[noreturn]] void fail(int error) const { throw InputError(name + ": " + std::strerror(error)); }
  [[nodiscard]] std::size_t read(std::span<char> buffer);
  [[nodiscard]] std::size_t read_at(std::uint64_t offset, std::span<char> buffer);

  std::string name;
  gzFile stream = nullptr;  ///< Owns the descriptor
  int descriptor = -1;      ///< that read_at() reads from.
  std::atomic<std::uint64_t> taken = 0;
};

ByteSource::ByteSource(const std::string& path)
    : file_(std::make_shared<File>(path == "-" ? "<stdin>" : path)) {
  const int fd = path == "-" ? dup(STDIN_FILENO) : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) file_->fail(errno);
  struct stat status {};
  if (fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
    close(fd);
    file_->fail(EISDIR);
  }
  file_->stream = gzdopen(fd, "rb");
  if (file_->stream == nullptr) {
    close(fd);
    file_->fail(ENOMEM);
  }
  file_->descriptor = fd;
  gzbuffer(file_->stream, 256 * 1024);
  may_wait_ = !S_ISREG(status.st_mode);
  // gzdirect() looks at the first bytes; zlib copies what is not gzip through unchanged. Files that
  // the kernel makes up as they are read say that they are empty.
  if (!S_ISREG(status.st_mode) || status.st_size <= 0) return;
  to_take_ = static_cast<std::uint64_t>(status.st_size);
  if (path != "-" && gzdirect(file_->stream) == 1) size_ = to_take_;
}

ByteSource::~ByteSource() = default;

const std::string& ByteSource::name() const {
  return file_->name;
}

std::uint64_t ByteSource::bytes_taken() const {
  return file_->taken;
}

std::string_view ByteSource::peek(std::size_t bytes) {
  peeked_.resize(bytes);
  peeked_.resize(size_ ? file_->read_at(0, peeked_) : file_->read(peeked_));
  return peeked_;
}

std::size_t ByteSource::read(std::span<char> buffer) {
  const std::size_t again = std::min(buffer.size(), peeked_.size() - peeked_read_);
  if (again == 0 || size_) return read_on(buffer);
  peeked_.copy(buffer.data(), again, peeked_read_);
  peeked_read_ += again;
  return again + read_on(buffer.subspan(again));
}

std::size_t ByteSource::read_on(std::span<char> buffer) {
  if (!std::exchange(has_begun_, true) && !size_) begin_reading_ahead();
  if (ahead_) return ahead_->read(buffer);
  return is_stopped() ? 0 : file_->read(buffer);
}

void ByteSource::begin_reading_ahead() {
  const std::lock_guard lock(ahead_mutex_);
  if (stopped_) return;
  try {
    ahead_.emplace([file = file_](std::span<char> piece) { return file->read(piece); }, may_wait_);
  } catch (const std::system_error&) {  // no more threads are to be had: read as it is asked for
  }
}

bool ByteSource::is_stopped() {
  const std::lock_guard lock(ahead_mutex_);
  return stopped_;
}

void ByteSource::stop() {
  const std::lock_guard lock(ahead_mutex_);
  stopped_ = true;
  if (ahead_) ahead_->stop();
}

std::size_t ByteSource::read_at(std::uint64_t offset, std::span<char> buffer) const {
  return file_->read_at(offset, buffer);
}

std::size_t ByteSource::File::read(std::span<char> buffer) {
  std::size_t total = 0;
  while (total < buffer.size()) {
    const auto ask = static_cast<unsigned>(std::min<std::size_t>(buffer.size() - total, INT_MAX));
    const int got = gzread(stream, buffer.data() + total, ask);
    if (got > 0) {
      total += static_cast<std::size_t>(got);
      // There is no offset in what cannot seek.
      const auto offset = gzoffset(stream);
      if (offset >= 0) {
        taken = static_cast<std::uint64_t>(offset);
      } else {
        taken += static_cast<std::uint64_t>(got);
      }
      continue;
    }
    int error = Z_OK;
    const char* reason = gzerror(stream, &error);
    if (error == Z_ERRNO) fail(errno);
    if (error == Z_BUF_ERROR) throw InputError(name + ": compressed data is cut off");
    if (error != Z_OK && error != Z_STREAM_END) {
      // zlib puts a name of its own in front of the reason.
      const std::string text = reason;
      const std::size_t colon = text.find(": ");
      throw InputError(name + ": damaged compressed data: " +
                       (colon == std::string::npos ? text : text.substr(colon + 2)));
    }
    break;
  }
  return total;
}

std::size_t ByteSource::File::read_at(std::uint64_t offset, std::span<char> buffer) {
  std::size_t total = 0;
  while (total < buffer.size()) {
    const ssize_t got = pread(descriptor, buffer.data() + total, buffer.size() - total,
                              static_cast<off_t>(offset + total));
    if (got > 0) {
      total += static_cast<std::size_t>(got);
    } else if (got == 0) {
      break;
    } else if (errno != EINTR) {
      fail(errno);
    }
  }
  std::uint64_t before = taken;
  while (before < offset + total && !taken.compare_exchange_weak(before, offset + total)) {
  }
  return total;
}

}  // namespace pagerank::io

#include "io/byte_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "io/decompression.hpp"
#include "io/input_error.hpp"

namespace pagerank::io {
namespace {

/// Fills a buffer with what read(rest of the buffer) gives, unless that is nothing: then there is
/// no more. An error behind some bytes is left to the next call, which meets it again.
template <class Read>
std::size_t fill(std::span<char> buffer, Read read) {
  std::size_t total = 0;
  try {
    while (total < buffer.size()) {
      const std::size_t got = read(buffer.subspan(total));
      if (got == 0) break;
      total += got;
    }
  } catch (const InputError&) {
    if (total == 0) throw;
  }
  return total;
}

}  // namespace

std::string input_name(const std::string& path) {
  return path == "-" ? "<stdin>" : path;
}

struct ByteSource::File {
  explicit File(std::string what) : name(std::move(what)) {}
  ~File() {
    if (descriptor >= 0) close(descriptor);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  [[noreturn]] void fail(int error) const { throw InputError(name + ": " + std::strerror(error)); }
  [[noreturn]] void fail_changed() const { throw InputError(name + ": changed while it was read"); }
  [[nodiscard]] std::size_t read(std::span<char> buffer);
  [[nodiscard]] std::size_t read_at(std::uint64_t offset, std::span<char> buffer);
  void took_up_to(std::uint64_t offset);

  std::string name;
  int descriptor = -1;
  std::atomic<std::uint64_t> taken = 0;
  std::uint64_t position = 0;        ///< Of what is read next, as it stands in the file,
  std::optional<std::uint64_t> end;  ///< which ended here when it was opened, where that is known.

 private:
  void begin();
  [[nodiscard]] std::size_t read_as_it_stands(std::span<char> buffer);

  bool has_begun_ = false;
  std::string first_;  ///< Bytes that told what the file is, and are still to be read.
  std::optional<GzipStream> gzip_;
  bool ended_ = false;  ///< Somebody may go on writing to a pipe, or at a terminal.
  int error_ = 0;       ///< That reading ended with: the system may not say it again.
};

ByteSource::ByteSource(const std::string& path) : file_(std::make_shared<File>(input_name(path))) {
  const int fd = path == "-" ? dup(STDIN_FILENO) : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw_not_opened(file_->name, errno);
  file_->descriptor = fd;
  struct stat status {};
  if (fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) file_->fail(EISDIR);
  may_wait_ = !S_ISREG(status.st_mode);
  // Files that the kernel makes up as they are read say that they are empty.
  if (!S_ISREG(status.st_mode) || status.st_size <= 0) return;
  file_->end = to_take_ = static_cast<std::uint64_t>(status.st_size);
  if (path == "-") {  // others may have read some of it
    file_->position = static_cast<std::uint64_t>(std::max<off_t>(lseek(fd, 0, SEEK_CUR), 0));
    file_->end = std::max(file_->position, *to_take_);
    return;
  }
  std::string first(GzipStream::magic_bytes, ' ');
  first.resize(file_->read_at(0, first));
  if (!GzipStream::begins_with(first)) size_ = to_take_;
}

ByteSource::~ByteSource() = default;

const std::string& ByteSource::name() const {
  return file_->name;
}

std::uint64_t ByteSource::bytes_taken() const {
  return file_->taken;
}

std::string_view ByteSource::peek(std::size_t bytes) {
  std::string first(bytes, ' ');
  first.resize(size_ ? file_->read_at(0, first) : file_->read(first));
  peeked_ = std::move(first);
  return peeked_;
}

std::size_t ByteSource::read(std::span<char> buffer) {
  const std::size_t again = std::min(buffer.size(), peeked_.size() - peeked_read_);
  if (again == 0 || size_) return read_on(buffer);
  peeked_.copy(buffer.data(), again, peeked_read_);
  peeked_read_ += again;
  try {
    return again + read_on(buffer.subspan(again));
  } catch (const InputError&) {  // is met by the next call
    return again;
  }
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
  const std::size_t got = file_->read_at(offset, buffer);
  // More than there was is no better than less: its last line may have been half written.
  const std::uint64_t there = *size_ - std::min(offset, *size_);
  if (got != std::min<std::uint64_t>(there, buffer.size())) file_->fail_changed();
  return got;
}

std::size_t ByteSource::File::read(std::span<char> buffer) {
  return fill(buffer, [this](std::span<char> rest) {
    if (!std::exchange(has_begun_, true)) begin();
    return gzip_ ? gzip_->read(rest) : read_as_it_stands(rest);
  });
}

/// Finds out what the file is. (A pipe may give its first bytes one by one.)
void ByteSource::File::begin() {
  const auto as_it_stands = [this](std::span<char> buffer) { return read_as_it_stands(buffer); };
  std::string first(GzipStream::magic_bytes, ' ');
  first.resize(fill(first, as_it_stands));
  if (GzipStream::begins_with(first)) gzip_.emplace(as_it_stands, name);
  first_ = std::move(first);
}

/// The next bytes of the file, some of those that fit; 0 at its end.
std::size_t ByteSource::File::read_as_it_stands(std::span<char> buffer) {
  if (!first_.empty()) {
    const std::size_t again = first_.copy(buffer.data(), buffer.size());
    first_.erase(0, again);
    return again;
  }
  if (error_ != 0) fail(error_);
  ssize_t got = 0;
  while (!ended_ && (got = ::read(descriptor, buffer.data(), buffer.size())) < 0) {
    if (errno != EINTR) fail(error_ = errno);
  }
  ended_ = got == 0;
  position += static_cast<std::uint64_t>(got);
  took_up_to(position);
  if (ended_ && end && position != *end) fail_changed();
  return static_cast<std::size_t>(got);
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
  took_up_to(offset + total);
  return total;
}

void ByteSource::File::took_up_to(std::uint64_t offset) {
  std::uint64_t before = taken;
  while (before < offset && !taken.compare_exchange_weak(before, offset)) {
  }
}

}  // namespace pagerank::io

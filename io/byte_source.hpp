#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "io/read_ahead.hpp"

namespace pagerank::io {

/// What to call an input in messages: the path, or "<stdin>" for "-".
[[nodiscard]] std::string input_name(const std::string& path);

/// The bytes of a file or of standard input, in order. gzip data is recognised by its first bytes,
/// whatever the file is called, and decompressed on the way (GzipStream). What is compressed, or
/// comes from standard input or a pipe, is read ahead in a thread of its own once reading has
/// begun.
class ByteSource {
 public:
  /// "-" is standard input. Throws as throw_not_opened() does if the file cannot be opened.
  explicit ByteSource(const std::string& path);
  ~ByteSource();

  /// Fills `buffer` from its front; fewer bytes than fit only at the end of the input, 0 after it,
  /// and in front of an error, which the next call meets. Throws InputError if reading fails,
  /// compressed data is damaged or cut off, or a regular file does not end where it did when it was
  /// opened; again if it is called again.
  [[nodiscard]] std::size_t read(std::span<char> buffer);

  /// The first bytes of what read() will give, up to `bytes` of them (fewer only if there are no
  /// more, or none before an error), which stay to be read. Call it before read(), once. Throws as
  /// read() does.
  [[nodiscard]] std::string_view peek(std::size_t bytes);

  /// The same as read() from byte `offset` on, for sources of known size: several threads may call
  /// it at once, and it does not move what read() reads next. Throws InputError if it fails, or
  /// comes to an end that is not at size(), whatever came before that.
  [[nodiscard]] std::size_t read_at(std::uint64_t offset, std::span<char> buffer) const;

  /// From any thread: read() reads nothing more, and who waits in it for bytes that may never come
  /// goes on, as at the end of the input. (Where no thread was to be had to read ahead, when they
  /// have come.)
  void stop();

  /// Its input_name().
  [[nodiscard]] const std::string& name() const;

  /// The number of bytes where that is known, when it was opened: regular files without
  /// compression.
  [[nodiscard]] std::optional<std::uint64_t> size() const { return size_; }

  /// Up to which byte the file was read so far, of what is compressed up to which compressed one:
  /// to show how far reading is. From any thread.
  [[nodiscard]] std::uint64_t bytes_taken() const;

  /// What bytes_taken() is at the end, where that is known: for regular files.
  [[nodiscard]] std::optional<std::uint64_t> bytes_to_take() const { return to_take_; }

 private:
  struct File;

  void begin_reading_ahead();
  [[nodiscard]] bool is_stopped();
  [[nodiscard]] std::size_t read_on(std::span<char> buffer);

  std::shared_ptr<File> file_;  ///< With the thread that reads ahead.
  bool may_wait_ = false;       ///< For somebody who writes into it.
  std::optional<std::uint64_t> size_, to_take_;
  std::string peeked_;           ///< Comes before what is left in the file,
  std::size_t peeked_read_ = 0;  ///< from this byte on.
  bool has_begun_ = false;
  std::mutex ahead_mutex_;  ///< Guards what follows where it is made, and where it is stopped.
  bool stopped_ = false;
  std::optional<ReadAhead> ahead_;
};

}  // namespace pagerank::io

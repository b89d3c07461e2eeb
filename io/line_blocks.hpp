#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>

#include "core/page_array.hpp"
#include "io/byte_source.hpp"

namespace pagerank::io {

/// Some whole lines of a text.
struct LineBlock {
  std::size_t index = 0;  ///< Blocks count from 0, in the order of the text.

  /// In the buffer given to LineBlocks::next(). Only the last line of the input may lack its
  /// newline.
  std::span<char> text;

  [[nodiscard]] std::string_view view() const { return {text.data(), text.size()}; }

  /// Set if the lines cannot be had: an InputError, or a LineFault of the block's first line. It is
  /// the last block then, and text is empty.
  std::exception_ptr error;
};

/// What lines of a format may be, whatever is on them.
struct TextRules {
  std::string_view comment_marks;  ///< Characters that comments begin with.
  bool has_banner = false;         ///< The first line is no comment, whatever it begins with.
};

/// Cuts a source into blocks of whole lines. Several threads take blocks at once: bytes of a file
/// are read side by side, those of a stream (or decompressed) by one thread while others work on
/// what they took before.
class LineBlocks {
 public:
  /// A line of so many bytes and more, its newline not counted, is handed out with one blank for
  /// each run of them. If it has more than half as many bytes then, those stand for all of a
  /// comment, and any other line, a banner too, is an error.
  static constexpr std::size_t longest_line = std::size_t{1} << 20;
  static constexpr std::size_t longest_without_blanks = longest_line / 2;

  /// Blocks have about `block_bytes` bytes (1 .. longest_line), or one line if that is longer.
  LineBlocks(ByteSource& source, std::size_t block_bytes, const TextRules& rules)
      : source_(source), block_bytes_(block_bytes), rules_(rules) {}

  /// How large a buffer must be, whatever the size of blocks: a line may be longer.
  static constexpr std::size_t buffer_bytes = longest_line;

  /// Reads the next block into buffer_of(its index), which may wait for a buffer and is asked at
  /// the end too. Nothing at the end. Where reading fails, whole lines before that come first,
  /// but of a plain file those of blocks before.
  using BufferOf = std::function<std::span<char>(std::size_t index)>;
  [[nodiscard]] std::optional<LineBlock> next(const BufferOf& buffer_of);

  /// The same with one buffer, made large enough.
  [[nodiscard]] std::optional<LineBlock> next(PageArray<char>& buffer);

  /// That were read so far. (Without the lock, which who waits for a silent pipe holds.)
  [[nodiscard]] std::uint64_t bytes() const { return position_; }

 private:
  [[nodiscard]] std::size_t read_on(std::span<char> to);
  [[nodiscard]] std::size_t bytes_to_last_newline() const;
  [[nodiscard]] std::span<char> take_lines(std::span<char> buffer);
  [[nodiscard]] std::size_t shorten(std::span<char> line, std::size_t shortened) const;

  ByteSource& source_;
  std::size_t block_bytes_;
  TextRules rules_;
  std::mutex mutex_;                         ///< Guards what follows.
  std::size_t next_index_ = 0;               ///< Of the block that comes next,
  std::atomic<std::uint64_t> position_ = 0;  ///< which begins here in the source,
  PageArray<char> rest_;    ///< or in a stream with bytes already read, which end there.
  bool first_line_ = true;  ///< Nothing was handed out so far.
  bool end_ = false;
  /// A block was not read. (Without the lock, which who waits for a buffer holds: until, it may be,
  /// this block is taken.)
  std::atomic<bool> failed_ = false;
};

}  // namespace pagerank::io

#include "io/line_blocks.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "io/input_error.hpp"
#include "io/line_fields.hpp"

namespace pagerank::io {

std::optional<LineBlock> LineBlocks::next(PageArray<char>& buffer) {
  return next([&buffer](std::size_t) {
    buffer.resize(buffer_bytes);
    return std::span(buffer);
  });
}

std::optional<LineBlock> LineBlocks::next(const BufferOf& buffer_of) {
  LineBlock block;
  std::uint64_t begin = 0;
  std::size_t bytes = 0;
  std::span<char> buffer;
  {
    const std::lock_guard lock(mutex_);
    if (end_ || failed_) return std::nullopt;
    block.index = next_index_;
    try {
      begin = position_;
      bytes = bytes_to_last_newline();
      buffer = buffer_of(block.index);
      if (bytes == 0) {
        block.text = take_lines(buffer);
        if (block.text.empty()) return std::nullopt;
      }
    } catch (...) {
      block.error = std::current_exception();
      end_ = true;
    }
    ++next_index_;
    position_ += bytes;
    first_line_ = false;
  }
  if (bytes > 0 && !block.error) {
    try {
      block.text = buffer.first(source_.read_at(begin, buffer.first(bytes)));
    } catch (...) {
      block.error = std::current_exception();
      failed_ = true;
    }
  }
  return block;
}

/// The size of the next block if a look at its last bytes tells, so that all of it can be read
/// outside the lock; 0 if it has to be read to find out, or there is none.
std::size_t LineBlocks::bytes_to_last_newline() const {
  if (!source_.size() || position_ >= *source_.size()) return 0;
  const std::uint64_t left = *source_.size() - position_;
  // (A last line that is too long must be seen to be.)
  if (left <= block_bytes_ && left < longest_line) return left;
  std::array<char, 4096> tail;
  const std::size_t looked_at = std::min(block_bytes_, tail.size());
  const std::size_t before = block_bytes_ - looked_at;
  const std::size_t got = source_.read_at(position_ + before, {tail.data(), looked_at});
  const std::size_t newline = std::string_view(tail.data(), got).rfind('\n');
  return newline == std::string_view::npos ? 0 : before + newline + 1;
}

std::size_t LineBlocks::read_on(std::span<char> to) {
  const std::size_t got = source_.size() ? source_.read_at(position_, to) : source_.read(to);
  position_ += got;
  return got;
}

/// Reads until the buffer holds a newline or the input ends, and keeps what follows the last one
/// for the next block. Empty at the end. An error behind whole lines is left to the next block,
/// which meets it again.
std::span<char> LineBlocks::take_lines(std::span<char> buffer) {
  std::size_t room = std::max(block_bytes_, rest_.size());  // that is used of the buffer
  std::copy(rest_.begin(), rest_.end(), buffer.begin());
  std::size_t filled = rest_.size();
  rest_.clear();
  std::size_t shortened = 0;  // that the first line begins with
  const auto whole_lines = [&](std::span<char> lines) {
    if (shortened == 0) return lines;
    const auto newline = std::find(lines.begin(), lines.end(), '\n');
    const auto size = static_cast<std::size_t>(newline - lines.begin());
    const std::size_t left = shorten(lines.first(size), shortened);
    std::copy(newline, lines.end(), lines.begin() + static_cast<std::ptrdiff_t>(left));
    return lines.first(lines.size() - (size - left));
  };
  for (;;) {
    std::exception_ptr error;
    try {
      while (filled < room && !end_) {
        const std::size_t got = read_on(buffer.subspan(filled, room - filled));
        end_ = got == 0;
        filled += got;
      }
    } catch (const InputError&) {
      error = std::current_exception();
    }
    const std::span<char> text = buffer.first(filled);
    if (end_) return whole_lines(text);
    const std::size_t newline = std::string_view(text.data(), text.size()).rfind('\n');
    if (newline == std::string_view::npos && error) std::rethrow_exception(error);
    if (newline != std::string_view::npos) {
      const std::span<char> lines = text.first(newline + 1);
      if (source_.size()) {
        position_ -= text.size() - lines.size();
      } else {
        rest_.assign(text.begin() + static_cast<std::ptrdiff_t>(lines.size()), text.end());
      }
      return whole_lines(lines);
    }
    if (filled < longest_line) {
      room = std::min(2 * filled, longest_line);
    } else {
      filled = shortened = shorten(text, shortened);
    }
  }
}

/// Makes room in a line of which there is more than fits the buffer, before this or behind, whose
/// first characters may be `shortened` before. Returns how many stand for it now.
std::size_t LineBlocks::shorten(std::span<char> line, std::size_t shortened) const {
  const auto refuse = [](std::string_view front, ParseFault fault, std::string detail) {
    // Without its last character, which may be cut in two: up to four bytes from 0x80 on.
    for (int i = 0; i < 3 && (front.back() & 0xc0) == 0x80; ++i) front.remove_suffix(1);
    if ((front.back() & 0xc0) == 0xc0) front.remove_suffix(1);
    throw binary_data_in(front).value_or(LineFault{1, fault, std::move(detail)});
  };
  const auto from =
      line.begin() + (shortened == 0 ? 0 : static_cast<std::ptrdiff_t>(shortened) - 1);
  const auto end =
      std::unique(from, line.end(), [](char a, char b) { return is_blank(a) && is_blank(b); });
  const auto left = static_cast<std::size_t>(end - line.begin());
  if (left <= longest_without_blanks) return left;
  const std::string_view front(line.data(), longest_without_blanks);
  if (first_line_ && rules_.has_banner) {
    refuse(front, ParseFault::bad_banner, "found " + quoted(front));
  }
  const auto first = std::find_if_not(line.begin(), end, is_blank);
  if (rules_.comment_marks.find(*first) == std::string_view::npos) {
    refuse(front, ParseFault::line_too_long, "");
  }
  return longest_without_blanks;
}

}  // namespace pagerank::io

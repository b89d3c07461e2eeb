#include "io/graph_text.hpp"

#include <algorithm>

#include "core/parallel.hpp"

namespace pagerank::io {

GraphText::GraphText(ByteSource& source, const ReadOptions& options, const TextRules& rules)
    : source_(source),
      threads_(thread_count(options.threads)),
      blocks_(source, options.block_bytes, rules) {
  if (source.size()) {  // no more threads than there are blocks
    threads_ = static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(threads_),
                                                        *source.size() / options.block_bytes + 1));
  }
}

std::optional<std::string_view> GraphText::peek_line() {
  if (first_block_.text.empty()) {
    std::optional<LineBlock> block = blocks_.next(first_buffer_);
    if (!block) return std::nullopt;
    first_block_ = *std::move(block);
    if (first_block_.error) {
      try {
        std::rethrow_exception(first_block_.error);
      } catch (LineFault& fault) {
        fault.line += lines_;
        throw;
      }
    }
  }
  const std::string_view text = first_block_.view();
  return text.substr(0, text.find('\n'));
}

void GraphText::drop_line() {
  std::span<char>& text = first_block_.text;
  const std::size_t newline = first_block_.view().find('\n');
  text = newline == std::string_view::npos ? std::span<char>() : text.subspan(newline + 1);
  ++lines_;
}

std::optional<LineBlock> GraphText::next_block(const LineBlocks::BufferOf& buffer_of) {
  if (first_is_taken_.exchange(true)) return blocks_.next(buffer_of);
  const std::span<char> buffer = buffer_of(first_block_.index);
  std::copy(first_block_.text.begin(), first_block_.text.end(), buffer.begin());
  return LineBlock{first_block_.index, buffer.first(first_block_.text.size()), first_block_.error};
}

void GraphText::on_each_thread(const std::function<void()>& work) const {
  parallel_for(static_cast<std::size_t>(threads_), threads_, [&work](std::size_t) { work(); });
}

}  // namespace pagerank::io

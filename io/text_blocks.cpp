#include "io/text_blocks.hpp"

namespace pagerank::io {

std::optional<LineBlock> TextBlocks::next(const LineBlocks::BufferOf& buffer_of) {
  std::optional<LineBlock> block = text_.next_block(buffer_of);
  if (block && !block->text.empty() && block->text.back() != '\n') {
    without_newline_ = block->index;
  }
  return block;
}

std::optional<TextBlocks::AnyEntry> TextBlocks::parse_line(std::string_view line) const {
  try {
    return entry_on(line);
  } catch (const LineFault&) {
    return std::nullopt;
  }
}

void TextBlocks::inspect(const LineBlock& block) {
  LineBlock as_it_came = block;
  if (block.index == without_newline_ && block.view().ends_with('\n')) {
    as_it_came.text = block.text.first(block.text.size() - 1);
  }
  parse_into(ledger_, as_it_came);
  if (ledger_.stopped()) close();
}

void TextBlocks::close() const {
  text_.name_faults([this] { ledger_.close(text_.bytes()); });
}

}  // namespace pagerank::io

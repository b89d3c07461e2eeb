#include "io/text_blocks.hpp"

namespace pagerank::io {

std::optional<TextBlocks::AnyEntry> TextBlocks::parse_line(std::string_view line) const {
  try {
    return entry_on(line);
  } catch (const LineFault&) {
    return std::nullopt;
  }
}

void TextBlocks::inspect(const LineBlock& block) {
  parse_into(ledger_, block);
  if (ledger_.stopped()) close();
}

void TextBlocks::close() const {
  text_.name_faults([this] { ledger_.close(); });
}

}  // namespace pagerank::io

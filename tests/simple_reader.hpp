#pragma once

#include <string>

#include "io/matrix_market_reader.hpp"

namespace pagerank::tests {

/// What MatrixMarketReader is held against: reads the text of a file from front to back, line by
/// line, by the general way of parsing alone. `name` is the file's in messages.
[[nodiscard]] io::MatrixMarketGraph simple_read(const std::string& text, const std::string& name,
                                                SourceIndex source_index);

}  // namespace pagerank::tests

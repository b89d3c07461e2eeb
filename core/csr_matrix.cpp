#include "core/csr_matrix.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace pagerank {

void CsrMatrix::validate() const {
  const auto require = [](bool holds, const std::string& rule) {
    if (!holds) throw std::invalid_argument("CSR matrix: " + rule);
  };
  require(!row_offsets.empty(), "row_offsets has no elements");
  require(row_offsets.size() - 1 <= max_node_count, "too many rows");
  require(row_offsets.front() == 0, "row_offsets does not start at 0");
  require(row_offsets.back() == column_indices.size(),
          "row_offsets does not end at the number of column indices");
  require(values.empty() || values.size() == column_indices.size(),
          "values and column_indices differ in length");
  for (std::size_t row = 0; row + 1 < row_offsets.size(); ++row) {
    const EdgeIndex begin = row_offsets[row];
    const EdgeIndex end = row_offsets[row + 1];
    require(begin <= end && end <= column_indices.size(),
            "row_offsets descends at row " + std::to_string(row));
    const auto first = column_indices.begin() + begin;
    const auto last = column_indices.begin() + end;
    require(std::is_sorted(first, last), "columns descend in row " + std::to_string(row));
    require(first == last || *(last - 1) < row_count(),
            "column out of range in row " + std::to_string(row));
  }
}

}  // namespace pagerank

// The reader on Matrix Market files from the tests of other projects: tests/data/README.md.
#include <doctest/doctest.h>

#include <optional>
#include <set>

#include "io/matrix_market_reader.hpp"
#include "tests/support.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("io");

namespace {

using io::ParseFault;

struct Verdict {
  const char* file;
  std::optional<ParseFault> fault;  ///< Unset: read.
  std::uint64_t line = 0;           ///< Of the fault.
  std::uint64_t entries = 0;        ///< If read.
};

constexpr std::nullopt_t read = std::nullopt;

const std::vector<Verdict> verdicts = {
    {"valid/fmm_array_symmetric.mtx", ParseFault::array_format, 1},
    {"valid/fmm_coordinate_pattern_symmetric_row.mtx", read, 0, 2},
    {"valid/fmm_coordinate_skew_symmetric_row.mtx", ParseFault::skew_symmetric, 1},
    {"valid/fmm_coordinate_symmetric_row.mtx", read, 0, 3},
    {"valid/fmm_eye3.mtx", read, 0, 3},
    {"valid/fmm_eye3_complex.mtx", ParseFault::complex_field, 1},
    {"valid/fmm_eye3_pattern.mtx", read, 0, 3},
    {"valid/fmm_kepner_gilbert_graph.mtx", read, 0, 12},
    {"valid/fmm_nist_ex1.mtx", ParseFault::negative_weight, 10},
    {"valid/fmm_nist_ex1_freeformat.mtx", ParseFault::negative_weight, 8},
    {"valid/fmm_nist_ex1_more_freeformat.mtx", ParseFault::negative_weight, 14},
    {"valid/fmm_row_3by4.mtx", ParseFault::not_square, 3},
    {"valid/lagraph_comments_west0067.mtx", ParseFault::weight_not_finite, 6},
    {"valid/lagraph_cover.mtx", read, 0, 12},
    {"valid/lagraph_empty.mtx", ParseFault::not_square, 4},
    {"valid/lagraph_matrix_int32.mtx", ParseFault::negative_weight, 7},
    {"valid/scipy_symmetric_pattern_example.mtx", read, 0, 7},

    {"invalid/fmm_invalid_bad_banner_2.mtx", ParseFault::bad_banner, 1},
    {"invalid/fmm_invalid_bad_format.mtx", ParseFault::unknown_format, 1},
    {"invalid/fmm_invalid_bad_symmetry.mtx", ParseFault::unknown_symmetry, 1},
    {"invalid/fmm_invalid_bad_value_2.mtx", ParseFault::vector_object, 1},
    {"invalid/fmm_invalid_bad_value_4.mtx", ParseFault::vector_object, 1},
    {"invalid/fmm_invalid_dimensions_out_of_range_2.mtx", ParseFault::bad_size_line, 3},
    {"invalid/fmm_invalid_indices_out_of_range_1.mtx", ParseFault::row_out_of_range, 5},
    {"invalid/fmm_invalid_indices_out_of_range_3.mtx", ParseFault::row_out_of_range, 5},
    {"invalid/fmm_invalid_indices_out_of_range_5.mtx", ParseFault::row_out_of_range, 5},
    {"invalid/fmm_invalid_matrix_coord_too_long.mtx", ParseFault::too_many_entries, 7},
    {"invalid/fmm_invalid_truncated_header_1.mtx", ParseFault::array_format, 1},
    {"invalid/fmm_invalid_truncated_line_1.mtx", ParseFault::cut_off_entry, 5},
    {"invalid/fmm_invalid_truncated_lines.mtx", ParseFault::too_few_entries, 4},
    {"invalid/fmm_invalid_vector_coord_too_long.mtx", ParseFault::vector_object, 1},
    {"invalid/fmm_invalid_vector_index_out_of_range_2.mtx", ParseFault::vector_object, 1},
    {"invalid/lagraph_mangled1.mtx", ParseFault::unknown_object, 1},
    {"invalid/lagraph_mangled3.mtx", ParseFault::unknown_field, 1},
    {"invalid/lagraph_mangled5.mtx", ParseFault::hermitian, 1},
    {"invalid/lagraph_mangled7.mtx", ParseFault::bad_weight, 5},
    {"invalid/lagraph_mangled8.mtx", ParseFault::bad_size_line, 4},
    {"invalid/lagraph_mangled11.mtx", ParseFault::not_square, 4},
    {"invalid/lagraph_mangled13.mtx", ParseFault::not_square, 4},
    {"invalid/lagraph_mangled_format.mtx", ParseFault::array_format, 1},

    {"overflow/fmm_overflow_dim_gt_int64.mtx", ParseFault::too_many_nodes, 2},
    {"overflow/fmm_overflow_index_gt_int8.mtx", read, 0, 1},
    {"overflow/fmm_overflow_value_gt_float128.mtx", ParseFault::weight_not_finite, 4},
    {"overflow/fmm_overflow_value_gt_int32.mtx", read, 0, 1},
    {"overflow/scipy_over64bit_integer_dense_example.mtx", ParseFault::array_format, 1},

    {"special/ginkgo_ReadHeaderIgnoresExtraCharacters.mtx", ParseFault::array_format, 1},
    {"special/ginkgo_ReadsSparseIgnoresExtraCharactersInRow.mtx", ParseFault::trailing_characters,
     2},
    {"special/lagraph_full_noheader.mtx", ParseFault::bad_banner, 1},
    {"special/lagraph_mangled_int8.mtx", ParseFault::negative_weight, 8},
    {"special/lagraph_mangled_int16.mtx", ParseFault::negative_weight, 8},
    {"special/lagraph_mangled_uint8.mtx", read, 0, 12},
    {"special/lagraph_mangled_uint16.mtx", read, 0, 12},
    {"special/lagraph_mangled15.mtx", ParseFault::array_format, 1},

    {"permissive/fmm_permissive_banner_leading_spaces_eye3.mtx", read, 0, 3},
    {"permissive/fmm_permissive_lines_indented.mtx", read, 0, 1},
};

}  // namespace

TEST_CASE("each conformance file gets its verdict, at its line") {
  const fs::path place = source_dir() / "tests/data/conformance";
  for (const Verdict& verdict : verdicts) {
    CAPTURE(std::string(verdict.file));
    try {
      io::ByteSource source((place / verdict.file).string());
      const io::MatrixMarketGraph graph = io::read_matrix_market(source, SourceIndex::row);
      CHECK_FALSE(verdict.fault.has_value());
      CHECK(graph.edges.entry_count() == verdict.entries);
    } catch (const io::ParseError& error) {
      CAPTURE(error.what());
      REQUIRE(verdict.fault.has_value());
      CHECK(static_cast<int>(error.fault()) == static_cast<int>(*verdict.fault));
      CHECK(error.line() == verdict.line);
    }
  }
}

TEST_CASE("every conformance file has a verdict") {
  std::set<std::string> listed, present;
  for (const Verdict& verdict : verdicts) listed.insert(verdict.file);
  const fs::path place = source_dir() / "tests/data/conformance";
  for (const fs::directory_entry& file : fs::recursive_directory_iterator(place)) {
    if (file.is_regular_file()) present.insert(fs::relative(file.path(), place).string());
  }
  CHECK(listed == present);
}

TEST_SUITE_END();
}  // namespace pagerank::tests

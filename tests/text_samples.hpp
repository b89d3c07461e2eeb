#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

/// Texts that readers are compared on.
namespace pagerank::tests {

using Random = std::mt19937_64;

/// The texts of all files below a directory of the checkout, always in the same order.
[[nodiscard]] std::vector<std::string> texts_of(const char* directory);

/// What fuzzing kept of a kind, "matrix_market" or "edge_lists": the few inputs in tests/data/fuzz
/// and those in PAGERANK_FUZZ_CORPUS, if that is set. Throws if either has none.
[[nodiscard]] std::vector<std::string> texts_of_fuzzing(const char* kind);

/// Entries of a long text, which are in more than one block of 64 KiB.
inline constexpr int long_text_entries = 12'000;

/// A Matrix Market file with lines of every kind that is accepted.
[[nodiscard]] std::string long_text(bool weighted, Random& random);

/// An edge list with lines of every kind that is accepted: with `columns` of them. Labels are below
/// `range`, 0: any; most of few nodes, as in graphs.
[[nodiscard]] std::string long_edge_list(int columns, std::uint64_t range, Random& random);

/// Matrix Market files of some MiB, blocks of which fill their buffers: one without a fault, and
/// some with one.
[[nodiscard]] std::vector<std::string> texts_of_full_blocks();

/// Changes a text in one place or three.
[[nodiscard]] std::string mutate(std::string text, Random& random);

}  // namespace pagerank::tests

// Out-weights as the CPU engine holds them.
#include "core/out_weights.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "tests/text_samples.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("core");

namespace {

/// All inverses, asked for in both ways, which are to agree.
std::vector<double> inverses_of(const OutWeights& weights, std::size_t nodes) {
  std::vector<double> one_by_one(nodes, -1), together;
  weights.for_each_inverse(0, nodes,
                           [&](std::size_t node, double inverse) { one_by_one[node] = inverse; });
  OutWeights::Few few;
  for (std::size_t begin = 0; begin < nodes; begin += few.size() - 1) {
    const std::size_t end = std::min(nodes, begin + few.size() - 1);
    const double* const those = weights.inverses(begin, end, few);
    together.insert(together.end(), those, those + (end - begin));
  }
  CHECK(one_by_one == together);
  return together;
}

}  // namespace

TEST_CASE("inverses of whole out-weights come back bit for bit from 4 bytes each") {
  ThreadTeam team(2);
  Array<double> inverses;
  for (std::uint32_t degree = 0; degree < 40'000; ++degree) {
    inverses.push_back(degree == 0 ? 0 : 1 / static_cast<double>(degree));
  }
  Random random(51);
  for (int i = 0; i < 40'000; ++i) {
    inverses.push_back(1 / static_cast<double>(1 + random() % ((std::uint64_t{1} << 31) - 3)));
  }
  const std::vector<double> expected(inverses.begin(), inverses.end());
  const std::size_t nodes = inverses.size();
  const OutWeights weights(std::move(inverses), true, team);
  CHECK(weights.bytes() == nodes * 4);
  CHECK(inverses_of(weights, nodes) == expected);
}

TEST_CASE("and lie where they were if that is not asked for") {
  ThreadTeam team(2);
  Array<double> inverses(1000, 0.5);
  inverses[7] = 0;
  const SharedArray<double> shared(std::move(inverses));
  const OutWeights weights(shared, false, team);
  OutWeights::Few few;
  CHECK(weights.inverses(3, 9, few) == shared.data() + 3);
  CHECK(inverses_of(weights, 1000) == std::vector<double>(shared.begin(), shared.end()));
}

TEST_CASE("inverses of any other out-weight are kept as they are") {
  ThreadTeam team(2);
  for (const double other : {0.3, 1 / 0x1p31, 1 / (0x1p33 + 1), 5e-324, 2.0}) {
    CAPTURE(other);
    Array<double> inverses(50'000, 0.5);
    inverses[49'999] = other;
    const std::vector<double> expected(inverses.begin(), inverses.end());
    const OutWeights weights(std::move(inverses), true, team);
    CHECK(weights.bytes() == expected.size() * 8);
    CHECK(inverses_of(weights, expected.size()) == expected);
  }
}

TEST_SUITE_END();
}  // namespace pagerank::tests

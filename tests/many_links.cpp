// More than 2^32 links through the builder and the CPU engine, in a few hundred MB: run it by hand,
// it takes minutes. Arrays of 1 GiB and more get addresses of their own, but share one piece of
// memory after the other: element i of such an array lies where element i + 2^23 (of 4 bytes) does.
// That is no harm if both are to have the same value, so the graphs here repeat themselves: pieces
// are alike, and ids are chosen so that what the builder stores does not depend on the bin.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>
#include <variant>
#include <vector>

#include "core/cpu_engine.hpp"
#include "core/reference.hpp"
#include "core/transition_builder.hpp"

namespace {

constexpr std::size_t large = std::size_t{1} << 30, period = std::size_t{1} << 25;

struct Mapping {
  void* place = nullptr;
  std::size_t bytes = 0;
};
std::mutex mappings_mutex;
std::array<Mapping, 64> mappings;

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::_Exit(1);
}

/// Addresses for so many bytes, `period` of them real.
void* allocate_periodic(std::size_t bytes) {
  bytes = (bytes + period - 1) / period * period;
  const int file = memfd_create("periodic", 0);
  if (file < 0 || ftruncate(file, period) != 0) fail("memory of one period");
  void* const place =
      mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) throw std::bad_alloc();
  for (std::size_t at = 0; at < bytes; at += period) {
    if (mmap(static_cast<char*>(place) + at, period, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
             file, 0) == MAP_FAILED) {
      fail("addresses");
    }
  }
  close(file);
  const std::lock_guard lock(mappings_mutex);
  auto* const free_one = std::find_if(mappings.begin(), mappings.end(),
                                      [](const Mapping& m) { return m.place == nullptr; });
  if (free_one == mappings.end()) fail("mappings");
  *free_one = {place, bytes};
  return place;
}

}  // namespace

void* operator new(std::size_t bytes) {
  if (bytes >= large) return allocate_periodic(bytes);
  if (void* const place = std::malloc(bytes)) return place;
  throw std::bad_alloc();
}
void operator delete(void* place) noexcept {
  if (place == nullptr) return;
  {
    const std::lock_guard lock(mappings_mutex);
    for (Mapping& mapping : mappings) {
      if (mapping.place != place) continue;
      munmap(place, mapping.bytes);
      mapping = {};
      return;
    }
  }
  std::free(place);
}
void operator delete(void* place, std::size_t) noexcept {
  operator delete(place);
}

namespace pagerank {
namespace {

constexpr NodeId nodes = NodeId{1} << 20;
/// Nodes so far apart are the first of their bins, whose place there is 0.
constexpr NodeId step = NodeId{1} << 16;
constexpr EdgeIndex leaves = nodes / step;
constexpr std::size_t piece_links = std::size_t{1} << 22, pieces = 1025;
constexpr EdgeIndex links = piece_links * pieces;
static_assert(links > EdgeIndex{1} << 32);

void check(bool holds, const char* what) {
  std::printf("%s: %s\n", holds ? "ok" : "WRONG", what);
  if (!holds) std::exit(1);
}

/// 16 links from one node, or to it, again and again.
std::variant<TransitionMatrix, BlockedMatrix> build_star(bool outwards, CpuLayout layout) {
  const std::vector<NodeId> hub(piece_links, 0);
  std::vector<NodeId> leaf(piece_links);
  for (std::size_t e = 0; e < piece_links; ++e) leaf[e] = static_cast<NodeId>(e % leaves) * step;
  // Fewer are expected than come, so that the two distributions do not share an array. (The matrix
  // gets pages of the second only where all of both is zero: one row has none to get in time.)
  TransitionMatrixBuilder builder({.node_count = nodes, .expected_entries = links / 10 * 9});
  for (std::size_t p = 0; p < pieces; ++p) {
    builder.add(p, outwards ? hub : leaf, outwards ? leaf : hub, {});
  }
  check(builder.link_count() == links, "links are counted in 64 bits");
  return builder.build_for({.layout = layout, .narrow = false});
}

std::vector<double> scores_of_star_outwards() {
  EdgeList once;
  once.node_count = nodes;
  for (NodeId leaf = 0; leaf < leaves; ++leaf) once.add_entry(SourceIndex::row, 0, leaf * step);
  return reference_pagerank(once);
}

void check_scores(CpuEngine& engine, const std::vector<double>& expected, const char* what) {
  const Solution solution = engine.solve({}, {.tolerance = 1e-6});
  double distance = 0;
  for (std::size_t node = 0; node < nodes; ++node) {
    distance += std::abs(solution.scores[node] - expected[node]);
  }
  std::printf("L1 distance %.3g, error bound %.3g, %u iterations\n", distance, solution.error_bound,
              solution.iterations);
  check(solution.converged && distance <= solution.error_bound + 1e-14, what);
}

void check_star_outwards(const std::vector<double>& expected) {
  const auto matrix = std::get<TransitionMatrix>(build_star(true, CpuLayout::plain));
  bool offsets = true;
  for (std::size_t row = 0; row <= nodes; ++row) {
    const EdgeIndex before = (row + step - 1) / step;  // leaves
    offsets = offsets && matrix.in_links.row_offsets[row] == before * (links / leaves);
  }
  check(offsets, "row offsets of a star outwards, 16 rows of 2^28 links");
  check(matrix.link_count() == links, "as many columns");
  check(std::all_of(matrix.in_links.column_indices.begin(), matrix.in_links.column_indices.end(),
                    [](NodeId column) { return column == 0; }),
        "all of them the hub");
  check(matrix.distinct_links == leaves, "repeated links are known as such");
  check(matrix.inverse_out_weight[0] == 1 / static_cast<double>(links), "1 / out-degree");
  check(matrix.dangling.size() == nodes - 1, "dangling nodes");

  for (const CpuLayout layout : {CpuLayout::plain, CpuLayout::blocked}) {
    CpuEngine engine(matrix, {.layout = layout});
    check_scores(engine, expected,
                 layout == CpuLayout::plain
                     ? "scores of the CPU engine are those of a star of 16 links"
                     : "and in the blocked layout");
  }
}

/// Its links, sorted right into row blocks.
void check_laid_out_star_outwards(const std::vector<double>& expected) {
  auto matrix = std::get<BlockedMatrix>(build_star(true, CpuLayout::blocked));
  const BlockedLayout& layout = matrix.in_links;
  check(matrix.link_count() == links, "as many links in row blocks");
  check(std::all_of(layout.sources.begin(), layout.sources.end(),
                    [](std::uint16_t source) { return source == 0; }),
        "all of them from the hub");
  constexpr EdgeIndex runs = links / BlockedLayout::longest_run;
  static_assert(links % (leaves * BlockedLayout::longest_run * BlockedLayout::padded_to) == 0);
  bool offsets = layout.blocks.back().last_run == runs && layout.rows.size() == runs;
  offsets = offsets && layout.segments.back().first_link == links;
  for (std::size_t b = 0; b < layout.blocks.size(); ++b) {
    const BlockedLayout::RowBlock& block = layout.blocks[b];
    const BlockedLayout::Segment& segment = layout.segments[layout.segment_of(b, 0)];
    const EdgeIndex before = (std::size_t{block.begin} + step - 1) / step;  // leaves
    offsets = offsets && block.first_link == before * (links / leaves) &&
              block.first_run == before * (runs / leaves) &&
              segment.first_link == block.first_link && segment.first_run == block.first_run;
  }
  check(offsets, "row blocks begin where the leaves before have so many links and runs");
  check(matrix.distinct_links == leaves, "repeated links are known as such there");
  // Theirs lies in pages of the builder's, which come again where the rows' ids are.
  matrix.partial_sums = {};
  CpuEngine engine(std::move(matrix));
  check_scores(engine, expected, "and links right in row blocks have the same scores");
}

void check_star_inwards() {
  // Too many for one row block: they are not laid out, whatever is wished for.
  const auto matrix = std::get<TransitionMatrix>(build_star(false, CpuLayout::blocked));
  const auto& offsets = matrix.in_links.row_offsets;
  check(offsets[0] == 0 && std::all_of(offsets.begin() + 1, offsets.end(),
                                       [](EdgeIndex offset) { return offset == links; }),
        "row offsets of a star inwards, one row of more than 2^32 links");
  constexpr EdgeIndex out_degree = links / leaves;
  bool degrees = true;
  for (NodeId node = 0; node < nodes; ++node) {
    const double expected = node % step == 0 ? 1 / static_cast<double>(out_degree) : 0;
    degrees = degrees && matrix.inverse_out_weight[node] == expected;
  }
  check(degrees, "1 / out-degree of every node");
}

}  // namespace
}  // namespace pagerank

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // what held is said if it crashes later
  std::printf("%llu links, 2^32 + %llu\n", static_cast<unsigned long long>(pagerank::links),
              static_cast<unsigned long long>(pagerank::links - (std::uint64_t{1} << 32)));
  const std::vector<double> expected = pagerank::scores_of_star_outwards();
  pagerank::check_star_outwards(expected);
  pagerank::check_laid_out_star_outwards(expected);
  pagerank::check_star_inwards();
}

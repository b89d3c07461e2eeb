#include "core/transition_builder.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <new>
#include <numeric>
#include <utility>

#include "core/huge_pages.hpp"
#include "core/packed_links.hpp"
#include "core/parallel.hpp"
#include "core/prefetch.hpp"
#include "core/scratch_budget.hpp"

namespace pagerank {
namespace {

/// Calls visit(source, target, entry) for each directed link of the entries, in order.
template <class Visit>
void for_each_link(std::span<const NodeId> sources, std::span<const NodeId> targets,
                   bool undirected, Visit visit) {
  if (!undirected) {
    for (std::size_t e = 0; e < sources.size(); ++e) visit(sources[e], targets[e], e);
    return;
  }
  for (std::size_t e = 0; e < sources.size(); ++e) {
    visit(sources[e], targets[e], e);
    if (sources[e] != targets[e]) visit(targets[e], sources[e], e);
  }
}

/// Calls body with wide and weighted as constants.
template <class Body>
decltype(auto) with_constants(bool wide, bool weighted, Body body) {
  if (wide) {
    return weighted ? body(std::true_type{}, std::true_type{})
                    : body(std::true_type{}, std::false_type{});
  }
  return weighted ? body(std::false_type{}, std::true_type{})
                  : body(std::false_type{}, std::false_type{});
}

}  // namespace

void TransitionMatrixBuilder::LinkArrays::resize(EdgeIndex links, bool wide, bool weighted) {
  low.resize(links);
  high.resize(wide ? links : 0);
  weights.resize(weighted ? links : 0);
}

TransitionMatrixBuilder::Links TransitionMatrixBuilder::LinkArrays::from(EdgeIndex first) {
  return {.low = low.data() + first,
          .high = high.empty() ? nullptr : high.data() + first,
          .weights = weights.empty() ? nullptr : weights.data() + first};
}

int TransitionMatrixBuilder::node_bits_of(const Shape& shape) {
  return static_cast<int>(std::bit_width(std::max<NodeId>(shape.node_count, 1) - 1));
}

int TransitionMatrixBuilder::shift_of(const Shape& shape) {
  // Bins small enough for the cache, but no smaller than need be: the runs of a bin that pieces
  // hold get short with many bins, and gathering them slow. However few the nodes: each thread
  // holds the links of one bin.
  constexpr EdgeIndex links_a_bin = EdgeIndex{1} << 19;
  constexpr int most_bins_log2 = 11, most_keys_log2 = 16;
  const EdgeIndex links = shape.expected_entries * (shape.undirected ? 2 : 1);
  const int bins_log2 =
      std::min(most_bins_log2, static_cast<int>(std::bit_width(links / links_a_bin)));
  const int node_bits = node_bits_of(shape);
  int shift = std::max(0, node_bits - bins_log2);
  // Up to 2^21 nodes, so many bins that a link takes 4 bytes.
  const int narrow = 32 - node_bits;
  if (shift > narrow && narrow >= node_bits - most_bins_log2) shift = narrow;
  return std::min(shift, most_keys_log2);
}

std::uint64_t TransitionMatrixBuilder::bytes_of_piece_table(const Shape& shape) {
  return (bins_of(shape, shift_of(shape)) + 1) * sizeof(std::uint32_t);
}

std::uint64_t TransitionMatrixBuilder::bytes_of_build_tables(const Shape& shape) {
  const std::uint64_t bins = bins_of(shape, shift_of(shape));
  return bins * bins * sizeof(EdgeIndex);
}

TransitionMatrixBuilder::TransitionMatrixBuilder(const Shape& shape)
    : shape_(shape), node_bits_(node_bits_of(shape)), shift_(shift_of(shape)) {
  const EdgeIndex links = shape.expected_entries * (shape.undirected ? 2 : 1);
  try {
    first_.resize(links, wide(), shape.weighted);
    advise_huge_pages(std::span(first_.low));
    advise_huge_pages(std::span(first_.high));
    advise_huge_pages(std::span(first_.weights));
  } catch (const std::bad_alloc&) {  // expected too much, perhaps
    first_ = {};
  }
}

void TransitionMatrixBuilder::add(std::size_t piece, std::span<const NodeId> sources,
                                  std::span<const NodeId> targets,
                                  std::span<const double> weights) {
  if (sources.empty()) return;  // comments, perhaps many of them
  Piece sorted;
  with_constants(wide(), shape_.weighted, [&](auto wide, auto weighted) {
    add_links<wide, weighted>(sorted, sources, targets, weights);
  });
  const std::lock_guard lock(mutex_);
  if (pieces_.size() <= piece) pieces_.resize(piece + 1);
  pieces_[piece] = std::move(sorted);
}

template <bool wide, bool weighted>
void TransitionMatrixBuilder::add_links(Piece& piece, std::span<const NodeId> sources,
                                        std::span<const NodeId> targets,
                                        std::span<const double> weights) {
  const int shift = shift_, node_bits = node_bits_;
  std::vector<std::uint32_t> next(bin_count() + 1, 0);
  // In two tables in turns: links of the same bin would wait for each other.
  std::vector<std::uint32_t> other(next.size(), 0);
  std::uint32_t *one = next.data(), *two = other.data();
  for_each_link(sources, targets, shape_.undirected, [&](NodeId source, NodeId, std::size_t) {
    ++one[source >> shift];
    std::swap(one, two);
  });
  std::transform(next.begin(), next.end(), other.begin(), next.begin(), std::plus<>());
  const std::uint32_t links = counts_to_begins<std::uint32_t>(next, 0);
  const EdgeIndex first = links_.fetch_add(links);
  if (first + links <= first_.low.size()) {
    piece.links = first_.from(first);
  } else {
    piece.own_low.resize(links);
    piece.own_high.resize(wide ? links : 0);
    piece.own_weights.resize(weighted ? links : 0);
    piece.links = {.low = piece.own_low.data(),
                   .high = piece.own_high.data(),
                   .weights = piece.own_weights.data()};
  }
  piece.bin_begin = next;
  const Links to = piece.links;
  const std::uint64_t key_mask = (std::uint64_t{1} << shift) - 1;
  for_each_link(sources, targets, shape_.undirected,
                [&](NodeId source, NodeId target, std::size_t entry) {
                  const std::uint32_t slot = next[source >> shift]++;
                  prefetch_for_writing(to.low + slot);
                  store_link<wide>(to, slot, (source & key_mask) << node_bits | target);
                  if constexpr (weighted) {
                    prefetch_for_writing(to.weights + slot);
                    to.weights[slot] = weights[entry];
                  }
                });
}

TransitionMatrix TransitionMatrixBuilder::build(int threads) {
  Draft draft = with_constants(wide(), shape_.weighted, [&](auto wide, auto weighted) {
    return build_as<wide, weighted>(thread_count(threads));
  });
  return {.in_links = {.row_offsets = std::move(draft.in_links.row_offsets),
                       .column_indices = std::move(draft.in_links.column_indices),
                       .values = std::move(draft.in_links.values)},
          .inverse_out_weight = std::move(draft.inverse_out_weight),
          .dangling = std::move(draft.dangling),
          .distinct_links = draft.distinct_links};
}

template <bool wide, bool weighted>
TransitionMatrixBuilder::Draft TransitionMatrixBuilder::build_as(int threads) {
  const std::size_t bins = bin_count();
  const NodeId n = shape_.node_count;
  Draft matrix;
  matrix.inverse_out_weight.resize(n);
  advise_huge_pages(std::span(matrix.inverse_out_weight));
  auto& in_links = matrix.in_links;
  in_links.row_offsets.resize(std::size_t{n} + 1);
  advise_huge_pages(std::span(in_links.row_offsets));

  // table[source bin][target bin]; a row begins where the row before ends.
  Table table(bins * bins + 1, 0);
  std::vector<EdgeIndex> begins(bins + 1, 0);
  for (const Piece& piece : pieces_) {
    for (std::size_t bin = 0; bin + 1 < piece.bin_begin.size(); ++bin) {
      begins[bin] += piece.bin_begin[bin + 1] - piece.bin_begin[bin];
    }
  }
  const EdgeIndex largest_bin = *std::max_element(begins.begin(), begins.end());
  const EdgeIndex links = counts_to_begins<EdgeIndex>(begins, 0);
  for (std::size_t bin = 0; bin <= bins; ++bin) table[bin * bins] = begins[bin];
  second_.resize(links, false, weighted);
  advise_huge_pages(std::span(second_.low));
  advise_huge_pages(std::span(second_.weights));
  // What fits a cache each thread gathers at once, in memory of its own. For larger bins all
  // threads share memory for a quarter of the links, or for a sixteenth where these take more than
  // the matrix does already; but however little is left, nobody looks at a bin more often than so.
  constexpr EdgeIndex gathered_at_once = EdgeIndex{1} << 17, most_looks = 16;
  ScratchBudget budget(links / (wide ? 16 : 4));
  std::vector<std::vector<NodeId>> dangling(bins);
  std::atomic<std::size_t> next_bin = 0;
  parallel_for(static_cast<std::size_t>(threads), threads, [&](std::size_t) {
    LinkArrays own;  // the system would clear new memory for each bin
    own.resize(std::min(largest_bin, gathered_at_once), wide, weighted);
    for (std::size_t bin = 0; (bin = next_bin++) < bins;) {
      const EdgeIndex in_bin = begins[bin + 1] - begins[bin];
      const ScratchBudget::Share share(budget, in_bin > gathered_at_once ? in_bin : 0);
      const EdgeIndex gathered = std::max(share.links(), in_bin / most_looks);
      LinkArrays shared;
      const bool fits = gathered <= gathered_at_once;
      if (!fits) shared.resize(gathered, wide, weighted);
      distribute_by_target<wide, weighted>(bin, fits ? gathered_at_once : gathered,
                                           fits ? own : shared, matrix, dangling[bin], table);
    }
  });
  free_memory(pieces_);
  free_memory(first_.high);
  matrix.dangling.reserve(std::accumulate(
      dangling.begin(), dangling.end(), std::size_t{0},
      [](std::size_t count, const std::vector<NodeId>& nodes) { return count + nodes.size(); }));
  for (const std::vector<NodeId>& nodes : dangling) {
    matrix.dangling.insert(matrix.dangling.end(), nodes.begin(), nodes.end());
  }
  free_memory(dangling);

  // What the links were gathered from is no longer needed: the matrix goes there.
  static_assert(std::is_same_v<NodeId, std::uint32_t>);
  in_links.column_indices = std::move(first_.low);
  in_links.values = std::move(first_.weights);
  if (in_links.column_indices.capacity() < links) {  // nothing worth copying
    free_memory(in_links.column_indices);
    free_memory(in_links.values);
  }
  in_links.column_indices.resize(links);
  in_links.values.resize(weighted ? links : 0);

  begins.assign(bins + 1, 0);
  for (std::size_t source_bin = 0; source_bin < bins; ++source_bin) {
    const EdgeIndex* row = table.data() + source_bin * bins;
    for (std::size_t bin = 0; bin < bins; ++bin) begins[bin] += row[bin + 1] - row[bin];
  }
  counts_to_begins<EdgeIndex>(begins, 0);
  in_links.row_offsets[n] = links;
  std::vector<EdgeIndex> distinct(bins);
  parallel_for(bins, threads, [&](std::size_t bin) {
    distinct[bin] = sort_rows<weighted>(bin, begins[bin], table, matrix);
  });
  matrix.distinct_links = std::accumulate(distinct.begin(), distinct.end(), EdgeIndex{0});
  if (weighted && matrix.distinct_links < links) close_gaps(begins, distinct, threads, matrix);
  second_ = {};
  return matrix;
}

}  // namespace pagerank

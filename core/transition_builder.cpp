#include "core/transition_builder.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <new>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "core/huge_pages.hpp"
#include "core/link_scratch.hpp"
#include "core/packed_links.hpp"
#include "core/parallel.hpp"

namespace pagerank {
void TransitionMatrixBuilder::LinkArrays::resize(EdgeIndex links, bool wide, bool weighted) {
  low.resize(links);
  high.resize(wide ? links : 0);
  weights.resize(weighted ? links : 0);
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
  const EdgeIndex links = shape.expected_links();
  const int bins_log2 =
      std::min(most_bins_log2, static_cast<int>(std::bit_width(links / links_a_bin)));
  const int node_bits = node_bits_of(shape);
  int shift = std::max(0, node_bits - bins_log2);
  // Up to 2^21 nodes, so many bins that a link takes 4 bytes.
  const int narrow = 32 - node_bits;
  if (shift > narrow && narrow >= node_bits - most_bins_log2) shift = narrow;
  return std::min(shift, most_keys_log2);
}

/// So many that neither their last slabs, half empty on average, nor the links that the next
/// distribution needs memory for before the first part is free, are many.
std::size_t TransitionMatrixBuilder::most_parts_of(EdgeIndex links, bool wide) {
  const EdgeIndex slabs = links / LinkArena::slab_links(wide);
  const auto parts = static_cast<std::size_t>(std::sqrt(static_cast<double>(slabs)));
  return std::clamp<std::size_t>(parts, 1, 64);
}

std::uint64_t TransitionMatrixBuilder::bytes_of_piece_table(const Shape& shape) {
  const int shift = shift_of(shape);
  const std::size_t parts = most_parts_of(shape.expected_links(), shift + node_bits_of(shape) > 32);
  const std::size_t bins = NodeBins::most_bins(shape.node_count, shift);
  return (bins + 1) * sizeof(std::uint32_t) + parts * sizeof(EdgeIndex);
}

std::uint64_t TransitionMatrixBuilder::bytes_of_build_tables(const Shape& shape) {
  const int shift = shift_of(shape);
  const std::uint64_t bins = NodeBins::most_bins(shape.node_count, shift);
  const std::size_t parts = most_parts_of(shape.expected_links(), shift + node_bits_of(shape) > 32);
  return bins * (bins + parts) * sizeof(EdgeIndex);
}

TransitionMatrixBuilder::TransitionMatrixBuilder(const Shape& shape)
    : shape_(shape), node_bits_(node_bits_of(shape)), shift_(shift_of(shape)) {
  const EdgeIndex links = shape.expected_links();
  const EdgeIndex slab = LinkArena::slab_links(wide());
  if (links < slab) return;  // nothing to speak of would be used again
  const std::size_t parts = most_parts_of(links, wide());
  lots_.resize(parts);
  // Addresses, not memory yet: what the first distribution takes, usually, and room for the second.
  const EdgeIndex first = links + links / 4 + parts * slab;
  try {
    arena_.emplace(first + LinkArena::capacity_for(links, 2 * parts, wide()), wide(),
                   shape.weighted);
    require_addresses_for_matrix(links);
  } catch (const std::bad_alloc&) {  // expected too much, perhaps
    arena_.reset();
  } catch (const std::length_error&) {
    arena_.reset();
  }
}

/// An arena is no help if then there are no addresses for the matrix, and for what build() gathers.
/// Throws std::bad_alloc.
void TransitionMatrixBuilder::require_addresses_for_matrix(EdgeIndex links) const {
  const EdgeIndex words = links * (shape_.weighted ? 3 : 1);
  PageArray<std::uint32_t>().reserve(words + words / 2 + EdgeIndex{4} * shape_.node_count);
}

/// For the second distribution of so many links, where the first one's arena has no room.
std::unique_ptr<LinkArena> TransitionMatrixBuilder::arena_for(EdgeIndex links, Parts& parts) const {
  if (parts.count > 1) {
    try {
      const EdgeIndex capacity = LinkArena::capacity_for(links, parts.count, false);
      auto arena = std::make_unique<LinkArena>(capacity, false, shape_.weighted);
      require_addresses_for_matrix(links);
      return arena;
    } catch (const std::bad_alloc&) {  // of so many addresses, perhaps
    }
  }
  parts = {std::vector<std::uint8_t>(target_bins_.count(), 0), 1};
  return std::make_unique<LinkArena>(links, false, shape_.weighted, LinkArena::Slabs::one);
}

/// Cuts the bins into parts of about as many links, by the links to each bin of a sample. That is
/// the first piece's, which may be like no other, so half of it is made up, alike for all bins.
TransitionMatrixBuilder::Parts TransitionMatrixBuilder::cut_into_parts(
    const std::vector<std::uint32_t>& sample, EdgeIndex links) const {
  const double all = std::accumulate(sample.begin(), sample.end(), 0.0);
  const auto bins = static_cast<double>(sample.size());
  const std::size_t most = std::min(most_parts_of(links, wide()), sample.size());
  Parts parts{std::vector<std::uint8_t>(sample.size()), most};
  double before = 0;
  for (std::size_t bin = 0; bin < sample.size(); ++bin) {
    const double share = all == 0 ? 1 / bins : 0.5 / bins + 0.5 * sample[bin] / all;
    const auto part = static_cast<std::size_t>((before + share / 2) * static_cast<double>(most));
    parts.of_bin[bin] = static_cast<std::uint8_t>(std::min(part, most - 1));
    before += share;
  }
  return parts;
}

TransitionMatrix TransitionMatrixBuilder::Draft::matrix() {
  return {.in_links = {.row_offsets = std::move(in_links.row_offsets),
                       .column_indices = std::move(in_links.column_indices),
                       .values = std::move(in_links.values)},
          .inverse_out_weight = std::move(inverse_out_weight),
          .dangling = std::move(dangling),
          .distinct_links = distinct_links};
}

/// The second distribution.
template <bool wide, bool weighted>
TransitionMatrixBuilder::BinsOfTargets TransitionMatrixBuilder::distribute(int threads,
                                                                           Draft& matrix) {
  if (pieces_.empty()) look_at({}, {});
  const std::size_t bins = source_bins_.count();
  matrix.inverse_out_weight.resize(shape_.node_count);
  advise_huge_pages(std::span(matrix.inverse_out_weight));

  std::vector<EdgeIndex> begins(bins + 1, 0);
  for (const Piece& piece : pieces_) {
    for (std::size_t bin = 0; bin + 1 < piece.bin_begin.size(); ++bin) {
      begins[bin] += piece.bin_begin[bin + 1] - piece.bin_begin[bin];
    }
  }
  const EdgeIndex largest_bin = *std::max_element(begins.begin(), begins.end());
  const EdgeIndex links = counts_to_begins<EdgeIndex>(begins, 0);
  Parts target_parts = cut_into_parts(target_sample_, links);
  std::unique_ptr<LinkArena> own_arena;
  if (!arena_ || !arena_->has_room(links, target_parts.count)) {
    own_arena = arena_for(links, target_parts);
  }
  Second second{.arena = own_arena ? *own_arena : *arena_,
                .part_of_bin = target_parts.of_bin,
                .lots = std::vector<LinkArena::Lot>(target_parts.count),
                .table = Table(bins, target_parts)};
  // What fits a cache each thread gathers at once, in memory of its own. For larger bins all
  // threads share memory for a quarter of the links, or for a sixteenth where these take more than
  // the matrix does already, and one bin gets an eighth at most; but however little is left,
  // nobody looks at a bin more often than so.
  constexpr EdgeIndex gathered_at_once = EdgeIndex{1} << 17, most_looks = 16;
  const EdgeIndex most_of_bin = links / 8;
  EdgeIndex shared_links = largest_bin > gathered_at_once ? links / (wide ? 16 : 4) : 0;
  LinkArrays shared;
  try {
    shared.resize(shared_links, wide, weighted);
    advise_huge_pages(std::span(shared.low));
    advise_huge_pages(std::span(shared.weights));
  } catch (const std::bad_alloc&) {  // of so many addresses
    shared = {};
    shared_links = 0;
  }
  LinkScratch scratch(shared_links);
  std::vector<std::vector<NodeId>> dangling(bins);
  PartCounts source_bins_left(source_parts_.of_bin, source_parts_.count);
  std::atomic<std::size_t> next_bin = 0;
  parallel_for(static_cast<std::size_t>(threads), threads, [&](std::size_t) {
    LinkArrays own;  // the system would clear new memory for each bin
    own.resize(std::min(largest_bin, gathered_at_once), wide, weighted);
    for (std::size_t bin = 0; (bin = next_bin++) < bins;) {
      const EdgeIndex in_bin = begins[bin + 1] - begins[bin];
      const LinkScratch::Share share(scratch,
                                     in_bin > gathered_at_once ? std::min(in_bin, most_of_bin) : 0);
      EdgeIndex gathered = gathered_at_once;
      Links gather_in = own.from(0);
      LinkArrays more;
      if (share.links() > gathered) {
        gathered = share.links();
        gather_in = shared.from(share.begin());
      }
      if (in_bin / most_looks > gathered) {
        gathered = in_bin / most_looks;
        more.resize(gathered, wide, weighted);
        gather_in = more.from(0);
      }
      distribute_by_target<wide, weighted>(bin, gathered, gather_in, matrix, dangling[bin], second);
      const std::size_t part = source_parts_.of_bin[bin];
      if (arena_ && source_bins_left.count_down(part)) arena_->free(lots_[part]);
    }
  });
  free_memory(pieces_);
  if (own_arena) arena_.reset();
  matrix.dangling.reserve(std::accumulate(
      dangling.begin(), dangling.end(), std::size_t{0},
      [](std::size_t count, const std::vector<NodeId>& nodes) { return count + nodes.size(); }));
  for (const std::vector<NodeId>& nodes : dangling) {
    matrix.dangling.insert(matrix.dangling.end(), nodes.begin(), nodes.end());
  }
  free_memory(dangling);

  begins.assign(target_bins_.count() + 1, 0);
  for (std::size_t source_bin = 0; source_bin < bins; ++source_bin) {
    for (std::size_t bin = 0; bin < target_bins_.count(); ++bin) {
      const EdgeIndex* const run = second.table.run(source_bin, bin);
      begins[bin] += run[1] - run[0];
    }
  }
  counts_to_begins<EdgeIndex>(begins, 0);
  return {.own_arena = std::move(own_arena),
          .second = std::move(second),
          .left = PartCounts(target_parts.of_bin, target_parts.count),
          .begins = std::move(begins)};
}

/// The third distribution, into the rows of the matrix.
template <bool weighted>
void TransitionMatrixBuilder::sort_all_rows(BinsOfTargets& bins, int threads, Draft& matrix) {
  const NodeId n = shape_.node_count;
  const EdgeIndex links = bins.links();
  const std::vector<EdgeIndex>& begins = bins.begins;
  Second& second = bins.second;
  auto& in_links = matrix.in_links;
  in_links.row_offsets.resize(std::size_t{n} + 1);
  in_links.column_indices.resize(links);
  in_links.values.resize(weighted ? links : 0);
  advise_huge_pages(std::span(in_links.row_offsets));
  advise_huge_pages(std::span(in_links.column_indices));
  advise_huge_pages(std::span(in_links.values));
  LinkArena::Heir columns_heir{std::span(in_links.column_indices)};
  LinkArena::Heir values_heir{std::span(in_links.values)};
  in_links.row_offsets[n] = links;
  std::vector<EdgeIndex> distinct(target_bins_.count());
  Gaps gaps(begins);
  parallel_for(target_bins_.count(), threads, [&](std::size_t bin) {
    const auto rows_of = [&](auto& array) {
      return std::span(array).subspan(begins[bin], begins[bin + 1] - begins[bin]);
    };
    second.arena.give_pages(columns_heir, rows_of(in_links.column_indices));
    if constexpr (weighted) second.arena.give_pages(values_heir, rows_of(in_links.values));
    distinct[bin] = sort_rows<weighted>(bin, begins[bin], second, matrix);
    if constexpr (weighted) close_gaps(gaps, bin, distinct[bin], matrix);
    bins.finish(bin);
  });
  matrix.distinct_links = std::accumulate(distinct.begin(), distinct.end(), EdgeIndex{0});
  if (weighted && matrix.distinct_links < links) {
    const auto shorten = [&](auto& array) {
      give_back_pages(std::span(array).subspan(matrix.distinct_links));
      array.resize(matrix.distinct_links);
    };
    shorten(in_links.column_indices);
    shorten(in_links.values);
    in_links.row_offsets[n] = matrix.distinct_links;
  }
  arena_.reset();
}

TransitionMatrix TransitionMatrixBuilder::build(int threads) {
  return std::get<TransitionMatrix>(build_for({.layout = CpuLayout::plain, .sizes = {}}, threads));
}

std::variant<TransitionMatrix, BlockedMatrix> TransitionMatrixBuilder::build_for(
    const LayoutWish& wish, int threads) {
  threads = thread_count(threads);
  return with_constants(
      wide(), shape_.weighted,
      [&](auto wide, auto weighted) -> std::variant<TransitionMatrix, BlockedMatrix> {
        Draft draft;
        BinsOfTargets bins = distribute<wide, weighted>(threads, draft);
        if (!weighted && choose(bins, wish, threads) == CpuLayout::blocked) {
          return lay_out(bins, wish, threads, draft);
        }
        sort_all_rows<weighted>(bins, threads, draft);
        return draft.matrix();
      });
}

}  // namespace pagerank

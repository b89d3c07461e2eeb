#include "core/transition_builder.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <new>
#include <numeric>
#include <utility>

#include "core/compensated_sum.hpp"
#include "core/huge_pages.hpp"
#include "core/parallel.hpp"
#include "core/prefetch.hpp"

namespace pagerank {
namespace {

/// Turns counts into where each begins, from `begin` on. Returns where the last ends.
template <class Count>
Count counts_to_begins(std::span<Count> counts, Count begin) {
  for (Count& count : counts) begin += std::exchange(count, begin);
  return begin;
}

/// What the weights of one source's links are divided by: their sum.
struct OutWeight {
  double sum = 0;
  bool scaled = false;  ///< It is beyond double, and all has to be scaled down.

  [[nodiscard]] bool is_zero() const { return sum == 0; }
  [[nodiscard]] double scale(double weight) const {
    constexpr int overflow_bits = 64;  // fewer than 2^64 weights are added
    return scaled ? std::ldexp(weight, -overflow_bits) : weight;
  }
};

/// Of the weights that for_each(visit) visits, in order. The sum is compensated: the certificate of
/// a result takes the matrix for exact to a few units roundoff, whatever the out-degrees.
template <class ForEach>
OutWeight out_weight_of(ForEach for_each) {
  CompensatedSum sum;
  for_each([&](double weight) { sum += weight; });
  if (std::isfinite(sum.value())) return {.sum = sum.value()};
  OutWeight out_weight{.scaled = true};
  CompensatedSum scaled;
  for_each([&](double weight) { scaled.add(out_weight.scale(weight)); });
  out_weight.sum = scaled.value();
  return out_weight;
}

/// Divides the weights of one source's links by their sum, unless that is 0, and returns whether it
/// is.
bool divide_by_sum(std::span<double> weights) {
  const OutWeight out_weight = out_weight_of([&](auto visit) {
    for (const double weight : weights) visit(weight);
  });
  if (out_weight.is_zero()) return true;
  if (out_weight.scaled) {
    for (double& weight : weights) weight = out_weight.scale(weight);
  }
  for (double& weight : weights) weight /= out_weight.sum;
  return false;
}

/// Of a node with so many links, `none` of which has a weight: their elements are divided already
/// if they have weights.
template <bool weighted>
double inverse_of(bool none, EdgeIndex out_links) {
  if (none) return 0;
  return weighted ? 1 : 1 / static_cast<double>(out_links);
}

template <bool wide, class Links>
std::uint64_t load(const Links& links, std::size_t i) {
  if constexpr (wide) return links.low[i] | std::uint64_t{links.high[i]} << 32;
  return links.low[i];
}

template <bool wide, class Links>
void store(const Links& links, std::size_t i, std::uint64_t packed) {
  links.low[i] = static_cast<std::uint32_t>(packed);
  if constexpr (wide) links.high[i] = static_cast<std::uint16_t>(packed >> 32);
}

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

/// How many links threads may gather, all together.
class ScratchBudget {
 public:
  explicit ScratchBudget(EdgeIndex links) : left_(links) {}

  /// What a thread may gather while it has this: as many as it wants, or what is left.
  class Share {
   public:
    Share(ScratchBudget& budget, EdgeIndex wanted) : budget_(budget) {
      EdgeIndex left = budget.left_;
      do {
        links_ = std::min(wanted, left);
      } while (!budget.left_.compare_exchange_weak(left, left - links_));
    }
    ~Share() { budget_.left_ += links_; }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    [[nodiscard]] EdgeIndex links() const { return links_; }

   private:
    ScratchBudget& budget_;
    EdgeIndex links_ = 0;
  };

 private:
  std::atomic<EdgeIndex> left_;
};

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
  for_each_link(sources, targets, shape_.undirected,
                [&](NodeId source, NodeId, std::size_t) { ++next[source >> shift]; });
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
                  store<wide>(to, slot, (source & key_mask) << node_bits | target);
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
  auto& in_links = matrix.in_links;
  in_links.row_offsets.resize(std::size_t{n} + 1);

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
  // threads share as many links as take a quarter of what the matrix takes, or a twelfth where the
  // links take more than it already.
  constexpr EdgeIndex gathered_at_once = EdgeIndex{1} << 17;
  ScratchBudget budget(links / (wide ? 16 : 4));
  std::vector<std::vector<NodeId>> dangling(bins);
  std::atomic<std::size_t> next_bin = 0;
  parallel_for(static_cast<std::size_t>(threads), threads, [&](std::size_t) {
    LinkArrays own;  // the system would clear new memory for each bin
    own.resize(std::min(largest_bin, gathered_at_once), wide, weighted);
    for (std::size_t bin = 0; (bin = next_bin++) < bins;) {
      const EdgeIndex in_bin = begins[bin + 1] - begins[bin];
      const ScratchBudget::Share share(budget, in_bin > gathered_at_once ? in_bin : 0);
      LinkArrays shared;
      const bool fits = share.links() <= gathered_at_once;
      if (!fits) shared.resize(share.links(), wide, weighted);
      distribute_by_target<wide, weighted>(bin, fits ? gathered_at_once : share.links(),
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

/// Calls visit(link, the links it is one of, its place there) for each link of a bin of sources, in
/// the order of the entries.
template <bool wide, class Visit>
void TransitionMatrixBuilder::for_each_link_of(std::size_t bin, Visit visit) const {
  for (const Piece& piece : pieces_) {
    if (piece.bin_begin.empty()) continue;
    const std::uint32_t end = piece.bin_begin[bin + 1];
    for (std::uint32_t l = piece.bin_begin[bin]; l < end; ++l) {
      visit(load<wide>(piece.links, l), piece.links, l);
    }
  }
}

/// Gathers the links of a bin of sources, at most about `most` at a time, which gives the
/// out-weights, and hands them on in order of bins of targets and, within these, of sources.
template <bool wide, bool weighted>
void TransitionMatrixBuilder::distribute_by_target(std::size_t bin, EdgeIndex most,
                                                   LinkArrays& scratch, Draft& matrix,
                                                   std::vector<NodeId>& dangling, Table& table) {
  const int shift = shift_, node_bits = node_bits_;
  const std::size_t bins = bin_count();
  const std::size_t first_node = bin << shift;
  const std::size_t nodes =
      std::min<std::size_t>((bin + 1) << shift, shape_.node_count) - first_node;
  const std::uint64_t node_mask = (std::uint64_t{1} << node_bits) - 1;

  std::vector<EdgeIndex> next_of_source(nodes, 0);
  EdgeIndex* const begin_of_target_bin = table.data() + bin * bins;
  std::vector<EdgeIndex> next_of_target_bin(bins, 0);
  for_each_link_of<wide>(bin, [&](std::uint64_t link, const Links&, std::uint32_t) {
    ++next_of_source[link >> node_bits];
    ++next_of_target_bin[(link & node_mask) >> shift];
  });
  const EdgeIndex links = counts_to_begins<EdgeIndex>(next_of_source, 0);
  counts_to_begins<EdgeIndex>(next_of_target_bin, *begin_of_target_bin);
  std::copy(next_of_target_bin.begin() + 1, next_of_target_bin.end(), begin_of_target_bin + 1);

  const auto begin_of = [&](std::size_t source) {  // before its links are gathered
    return source < nodes ? next_of_source[source] : links;
  };
  for (std::size_t first = 0, last = 0; first < nodes; first = last) {
    last = first + 1;
    const EdgeIndex begin = begin_of(first);
    while (last < nodes && begin_of(last + 1) - begin <= most) ++last;
    const EdgeIndex count = begin_of(last) - begin;
    if (count > most) {
      const bool none =
          distribute_hub<wide, weighted>(bin, first, most, scratch, next_of_target_bin);
      matrix.inverse_out_weight[first_node + first] = inverse_of<weighted>(none, count);
      if (none) dangling.push_back(static_cast<NodeId>(first_node + first));
      continue;
    }
    const Links by_source = scratch.all();
    const auto gather = [&](std::uint64_t link, const Links& from, std::uint32_t l) {
      const EdgeIndex slot = next_of_source[link >> node_bits]++ - begin;
      store<wide>(by_source, slot, link);
      if constexpr (weighted) by_source.weights[slot] = from.weights[l];
    };
    if (count == links) {
      for_each_link_of<wide>(bin, gather);
    } else {
      for_each_link_of<wide>(bin, [&](std::uint64_t link, const Links& from, std::uint32_t l) {
        if ((link >> node_bits) - first < last - first) gather(link, from, l);
      });
    }
    EdgeIndex at = 0;
    for (std::size_t i = first; i < last; ++i) {
      const EdgeIndex out_links = next_of_source[i] - begin - at;
      bool none = out_links == 0;
      if constexpr (weighted) none = divide_by_sum({by_source.weights + at, out_links});
      matrix.inverse_out_weight[first_node + i] = inverse_of<weighted>(none, out_links);
      if (none) dangling.push_back(static_cast<NodeId>(first_node + i));
      at += out_links;
    }
    hand_on<wide, weighted>(by_source, count, next_of_target_bin);
  }
}

/// The same for the links of one source, which are in order as they are. Returns whether their
/// weights add up to 0.
template <bool wide, bool weighted>
bool TransitionMatrixBuilder::distribute_hub(std::size_t bin, std::size_t source, EdgeIndex most,
                                             LinkArrays& scratch,
                                             std::vector<EdgeIndex>& next_of_target_bin) {
  const int node_bits = node_bits_;
  OutWeight out_weight;
  if constexpr (weighted) {
    out_weight = out_weight_of([&](auto visit) {
      for_each_link_of<wide>(bin, [&](std::uint64_t link, const Links& from, std::uint32_t l) {
        if (link >> node_bits == source) visit(from.weights[l]);
      });
    });
  }
  const Links gathered = scratch.all();
  EdgeIndex count = 0;
  for_each_link_of<wide>(bin, [&](std::uint64_t link, const Links& from, std::uint32_t l) {
    if (link >> node_bits != source) return;
    store<wide>(gathered, count, link);
    if constexpr (weighted) {
      const double weight = from.weights[l];
      gathered.weights[count] =
          out_weight.is_zero() ? weight : out_weight.scale(weight) / out_weight.sum;
    }
    if (++count < most) return;
    hand_on<wide, weighted>(gathered, std::exchange(count, 0), next_of_target_bin);
  });
  hand_on<wide, weighted>(gathered, count, next_of_target_bin);
  return weighted && out_weight.is_zero();
}

/// Writes links that are in order of sources to where their bins of targets go on.
template <bool wide, bool weighted>
void TransitionMatrixBuilder::hand_on(const Links& links, EdgeIndex count,
                                      std::vector<EdgeIndex>& next_of_target_bin) {
  const int shift = shift_, node_bits = node_bits_;
  const std::uint64_t node_mask = (std::uint64_t{1} << node_bits) - 1;
  const std::uint64_t key_mask = (std::uint64_t{1} << shift) - 1;
  for (EdgeIndex l = 0; l < count; ++l) {
    const std::uint64_t link = load<wide>(links, l);
    const std::uint64_t target = link & node_mask, source_in_bin = link >> node_bits;
    const EdgeIndex slot = next_of_target_bin[target >> shift]++;
    prefetch_for_writing(second_.low.data() + slot);
    second_.low[slot] = static_cast<std::uint32_t>((target & key_mask) << shift | source_in_bin);
    if constexpr (weighted) {
      prefetch_for_writing(second_.weights.data() + slot);
      second_.weights[slot] = links.weights[l];
    }
  }
}

/// Gathers the links of a bin of targets and sorts them into their rows, which begin at `begin`.
/// Weighted links of the same two nodes are added up, in order. Returns how many different ones
/// there are.
template <bool weighted>
EdgeIndex TransitionMatrixBuilder::sort_rows(std::size_t bin, EdgeIndex begin, const Table& table,
                                             Draft& matrix) {
  const int shift = shift_;
  const std::size_t bins = bin_count();
  const std::size_t first_node = bin << shift;
  const std::size_t nodes =
      std::min<std::size_t>((bin + 1) << shift, shape_.node_count) - first_node;
  const std::uint32_t key_mask = (std::uint32_t{1} << shift) - 1;
  const std::uint32_t* const from = second_.low.data();
  const auto for_each = [&](auto visit) {  // (target in its bin, source, where in second_)
    for (std::size_t source_bin = 0; source_bin < bins; ++source_bin) {
      const EdgeIndex* const run = table.data() + source_bin * bins + bin;
      const EdgeIndex end = run[1];
      const auto first_source = static_cast<NodeId>(source_bin << shift);
      for (EdgeIndex l = run[0]; l < end; ++l) {
        visit(from[l] >> shift, first_source + (from[l] & key_mask), l);
      }
    }
  };

  std::vector<EdgeIndex> next(nodes, 0);
  for_each([&](std::uint32_t target, NodeId, EdgeIndex) { ++next[target]; });
  const EdgeIndex end = counts_to_begins<EdgeIndex>(next, begin);
  EdgeIndex* const row_offsets = matrix.in_links.row_offsets.data() + first_node;
  std::copy(next.begin(), next.end(), row_offsets);
  NodeId* const columns = matrix.in_links.column_indices.data();
  double* const values = matrix.in_links.values.data();
  for_each([&](std::uint32_t target, NodeId source, EdgeIndex l) {
    const EdgeIndex slot = next[target]++;
    prefetch_for_writing(columns + slot);
    columns[slot] = source;
    if constexpr (weighted) {
      prefetch_for_writing(values + slot);
      values[slot] = second_.weights[l];
    }
  });

  EdgeIndex repeats = 0;
  for (EdgeIndex k = begin; k + 1 < end; ++k) repeats += columns[k] == columns[k + 1];
  for (std::size_t row = 0; row < nodes && repeats > 0; ++row) {
    const EdgeIndex at = row_offsets[row];  // neighbours of different rows do not count
    repeats -= at > begin && at < end && next[row] > at && columns[at] == columns[at - 1];
  }
  if (!weighted || repeats == 0) return end - begin - repeats;

  EdgeIndex slot = begin;
  for (std::size_t row = 0; row < nodes; ++row) {
    EdgeIndex k = std::exchange(row_offsets[row], slot);
    while (k < next[row]) {
      const NodeId column = columns[k];
      double value = values[k++];
      if (k < next[row] && columns[k] == column) {  // few are there again
        CompensatedSum sum;
        sum.add(value);
        for (; k < next[row] && columns[k] == column; ++k) sum.add(values[k]);
        value = sum.value();
      }
      columns[slot] = column;
      values[slot++] = value;
    }
  }
  return slot - begin;
}

/// Moves the rows of each bin of targets to behind those of the bin before: to where the links of
/// the second distribution were, so that all bins can move at once.
void TransitionMatrixBuilder::close_gaps(const std::vector<EdgeIndex>& begins,
                                         std::vector<EdgeIndex> distinct, int threads,
                                         Draft& matrix) {
  auto& in_links = matrix.in_links;
  const std::vector<EdgeIndex> sizes = distinct;
  const EdgeIndex links = counts_to_begins<EdgeIndex>(distinct, 0);
  parallel_for(sizes.size(), threads, [&](std::size_t bin) {
    const EdgeIndex from = begins[bin], to = distinct[bin];
    std::copy_n(in_links.column_indices.data() + from, sizes[bin], second_.low.data() + to);
    std::copy_n(in_links.values.data() + from, sizes[bin], second_.weights.data() + to);
    const std::size_t last = std::min<std::size_t>((bin + 1) << shift_, shape_.node_count);
    for (std::size_t row = bin << shift_; row < last; ++row) {
      in_links.row_offsets[row] -= from - to;
    }
  });
  in_links.row_offsets[shape_.node_count] = links;
  std::swap(in_links.column_indices, second_.low);
  std::swap(in_links.values, second_.weights);
  in_links.column_indices.resize(links);
  in_links.values.resize(links);
}

}  // namespace pagerank

#include "core/transition_matrix.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/compensated_sum.hpp"
#include "core/parallel.hpp"

namespace pagerank {
namespace {

/// Whether holds(element) for all elements of the array.
template <class T, class Predicate>
bool all_of(const Array<T>& array, int threads, Predicate holds) {
  constexpr std::size_t piece = std::size_t{1} << 18;
  std::atomic<bool> all = true;
  parallel_for((array.size() + piece - 1) / piece, threads, [&](std::size_t p) {
    const T* const data = array.data();
    if (!std::all_of(data + p * piece, data + std::min((p + 1) * piece, array.size()), holds)) {
      all = false;
    }
  });
  return all;
}

void require_valid(const EdgeList& edges, int threads) {
  const auto require = [](bool holds, const char* rule) {
    if (!holds) throw std::invalid_argument(std::string("edge list: ") + rule);
  };
  require(edges.node_count <= max_node_count, "too many nodes");
  require(edges.sources.size() == edges.targets.size(), "sources and targets differ in length");
  require(edges.weights.empty() || edges.weights.size() == edges.sources.size(),
          "weights and sources differ in length");
  const auto in_range = [n = edges.node_count](NodeId node) { return node < n; };
  require(all_of(edges.sources, threads, in_range) && all_of(edges.targets, threads, in_range),
          "node id out of range");
  require(all_of(edges.weights, threads, [](double w) { return w >= 0 && std::isfinite(w); }),
          "weight negative or not finite");
}

/// No more threads than the links keep busy.
int threads_for(EdgeIndex links, int threads) {
  constexpr EdgeIndex worth_a_thread = 1 << 16;
  return static_cast<int>(
      std::min<EdgeIndex>(static_cast<EdgeIndex>(threads), links / worth_a_thread + 1));
}

/// Directed links grouped by ranges of key nodes ("bins"), in the order of the edge list within a
/// bin: a stable counting sort on the key's high bits. Small bins make the later passes, one
/// thread a bin, run in cache; stability makes them independent of the number of threads.
struct BinnedLinks {
  int shift = 0;                       ///< bin of a key = key >> shift
  std::vector<EdgeIndex> bin_offsets;  ///< bins + 1
  Array<NodeId> keys;
  Array<NodeId> others;  ///< The other end of each link.
  Array<double> weights;

  [[nodiscard]] std::size_t bin_count() const { return bin_offsets.size() - 1; }
};

enum class Key { source, target };

/// Calls visit(source, target, entry) for each directed link of the entries [begin, end).
template <class Visit>
void for_each_link(const EdgeList& edges, EdgeIndex begin, EdgeIndex end, Visit visit) {
  for (EdgeIndex e = begin; e < end; ++e) {
    visit(edges.sources[e], edges.targets[e], e);
    if (edges.undirected && edges.sources[e] != edges.targets[e]) {
      visit(edges.targets[e], edges.sources[e], e);
    }
  }
}

BinnedLinks bin_links(const EdgeList& edges, Key key, int threads) {
  constexpr int most_bins_log2 = 11;
  BinnedLinks binned;
  binned.shift = 10;  // so many keys at least: a bin is work for a thread
  while ((std::uint64_t{edges.node_count} >> binned.shift) >= (1U << most_bins_log2)) {
    ++binned.shift;
  }
  const std::size_t bins = (std::size_t{edges.node_count} >> binned.shift) + 1;
  const EdgeIndex entries = edges.entry_count();
  threads = threads_for(entries, threads);
  const auto chunk_begin = [&](int chunk) {
    return entries * static_cast<EdgeIndex>(chunk) / static_cast<EdgeIndex>(threads);
  };
  const auto key_of = [key](NodeId source, NodeId target) {
    return key == Key::source ? source : target;
  };

  // cursor[chunk * bins + bin]: first the count, then where the chunk writes its next link.
  std::vector<EdgeIndex> cursor(static_cast<std::size_t>(threads) * bins, 0);
  parallel_for(threads, threads, [&](std::size_t chunk) {
    EdgeIndex* count = cursor.data() + chunk * bins;
    const int c = static_cast<int>(chunk);
    for_each_link(edges, chunk_begin(c), chunk_begin(c + 1),
                  [&](NodeId source, NodeId target, EdgeIndex) {
                    ++count[key_of(source, target) >> binned.shift];
                  });
  });
  binned.bin_offsets.assign(bins + 1, 0);
  EdgeIndex links = 0;
  for (std::size_t bin = 0; bin < bins; ++bin) {
    binned.bin_offsets[bin] = links;
    for (int chunk = 0; chunk < threads; ++chunk) {
      links += std::exchange(cursor[static_cast<std::size_t>(chunk) * bins + bin], links);
    }
  }
  binned.bin_offsets[bins] = links;

  binned.keys.resize(links);
  binned.others.resize(links);
  binned.weights.resize(edges.weighted() ? links : 0);
  parallel_for(threads, threads, [&](std::size_t chunk) {
    EdgeIndex* next = cursor.data() + chunk * bins;
    const int c = static_cast<int>(chunk);
    for_each_link(edges, chunk_begin(c), chunk_begin(c + 1),
                  [&](NodeId source, NodeId target, EdgeIndex entry) {
                    const NodeId k = key_of(source, target);
                    const EdgeIndex slot = next[k >> binned.shift]++;
                    binned.keys[slot] = k;
                    binned.others[slot] = key == Key::source ? target : source;
                    if (edges.weighted()) binned.weights[slot] = edges.weights[entry];
                  });
  });
  return binned;
}

/// Divides a link's weight by the out-weight of its source. Sums are compensated: the certificate
/// of a result takes the matrix for exact to a few units roundoff, whatever the out-degrees.
class WeightNormaliser {
 public:
  WeightNormaliser(const EdgeList& edges, int threads) : out_weight_(edges.node_count) {
    const BinnedLinks by_source = bin_links(edges, Key::source, threads);
    parallel_for(by_source.bin_count(), threads, [&](std::size_t bin) {
      for (EdgeIndex l = by_source.bin_offsets[bin]; l < by_source.bin_offsets[bin + 1]; ++l) {
        out_weight_[by_source.keys[l]].add(by_source.weights[l]);
      }
    });
    // Sums of finite weights can overflow: add those sources up again, scaled down.
    for (EdgeIndex l = 0; l < by_source.keys.size(); ++l) {
      if (!std::isfinite(out_weight_[by_source.keys[l]].value())) {
        scaled_out_weight_[by_source.keys[l]].add(std::ldexp(by_source.weights[l], -overflow_bits));
      }
    }
  }

  [[nodiscard]] double operator()(double weight, NodeId source) const {
    if (weight == 0) return 0;
    const double sum = out_weight_[source].value();
    if (std::isfinite(sum)) return weight / sum;
    return std::ldexp(weight, -overflow_bits) / scaled_out_weight_.at(source).value();
  }

  [[nodiscard]] bool dangling(NodeId source) const { return out_weight_[source].value() == 0; }

 private:
  static constexpr int overflow_bits = 64;  // fewer than 2^64 weights are added
  std::vector<CompensatedSum> out_weight_;
  std::unordered_map<NodeId, CompensatedSum> scaled_out_weight_;
};

/// Sorts the links of one bin by (target, source), stable, into their final places of `matrix`.
void sort_bin(const BinnedLinks& by_target, std::size_t bin, CsrMatrix& matrix) {
  const EdgeIndex begin = by_target.bin_offsets[bin];
  const EdgeIndex end = by_target.bin_offsets[bin + 1];
  const std::size_t first_row = bin << by_target.shift;
  const std::size_t last_row =
      std::min<std::size_t>((bin + 1) << by_target.shift, matrix.row_count());
  if (first_row >= last_row) return;

  std::vector<EdgeIndex> cursor(last_row - first_row, 0);
  for (EdgeIndex l = begin; l < end; ++l) ++cursor[by_target.keys[l] - first_row];
  EdgeIndex offset = begin;
  for (std::size_t row = first_row; row < last_row; ++row) {
    matrix.row_offsets[row] = offset;
    offset += std::exchange(cursor[row - first_row], offset);
  }
  const bool weighted = !matrix.values.empty();
  for (EdgeIndex l = begin; l < end; ++l) {
    const EdgeIndex slot = cursor[by_target.keys[l] - first_row]++;
    matrix.column_indices[slot] = by_target.others[l];
    if (weighted) matrix.values[slot] = by_target.weights[l];
  }

  std::vector<std::pair<NodeId, double>> row_links;
  for (std::size_t row = first_row; row < last_row; ++row) {
    const EdgeIndex row_begin = matrix.row_offsets[row];
    const EdgeIndex row_end = cursor[row - first_row];
    NodeId* columns = matrix.column_indices.data();
    if (std::is_sorted(columns + row_begin, columns + row_end)) continue;
    if (!weighted) {
      std::sort(columns + row_begin, columns + row_end);
      continue;
    }
    row_links.clear();
    for (EdgeIndex k = row_begin; k < row_end; ++k) {
      row_links.emplace_back(columns[k], matrix.values[k]);
    }
    std::stable_sort(row_links.begin(), row_links.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (EdgeIndex k = row_begin; k < row_end; ++k) {
      std::tie(columns[k], matrix.values[k]) = row_links[k - row_begin];
    }
  }
}

/// Counts the different columns of each row into offsets[row + 1].
Array<EdgeIndex> distinct_offsets(const CsrMatrix& matrix, int threads) {
  Array<EdgeIndex> offsets(matrix.row_offsets.size(), 0);
  parallel_for_blocks(matrix.row_count(), threads, [&](std::size_t, NodeId begin, NodeId end) {
    for (NodeId row = begin; row < end; ++row) {
      EdgeIndex distinct = 0;
      for (EdgeIndex k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
        distinct += k == matrix.row_offsets[row] ||
                    matrix.column_indices[k] != matrix.column_indices[k - 1];
      }
      offsets[row + 1] = distinct;
    }
  });
  for (std::size_t row = 1; row < offsets.size(); ++row) offsets[row] += offsets[row - 1];
  return offsets;
}

/// Adds up neighbouring elements of the same column, in order.
CsrMatrix merge_repeats(const CsrMatrix& matrix, Array<EdgeIndex> offsets, int threads) {
  CsrMatrix merged;
  merged.column_indices.resize(offsets.back());
  merged.values.resize(offsets.back());
  parallel_for_blocks(matrix.row_count(), threads, [&](std::size_t, NodeId begin, NodeId end) {
    for (NodeId row = begin; row < end; ++row) {
      EdgeIndex slot = offsets[row];
      for (EdgeIndex k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++slot) {
        const NodeId column = matrix.column_indices[k];
        CompensatedSum sum;
        for (; k < matrix.row_offsets[row + 1] && matrix.column_indices[k] == column; ++k) {
          sum.add(matrix.values[k]);
        }
        merged.column_indices[slot] = column;
        merged.values[slot] = sum.value();
      }
    }
  });
  merged.row_offsets = std::move(offsets);
  return merged;
}

/// 1 / out-degree of an unweighted graph, 0 for dangling nodes.
Array<double> inverse_out_degree(const CsrMatrix& in_links, int threads) {
  std::vector<EdgeIndex> out_degree(in_links.row_count(), 0);
  const EdgeIndex links = in_links.element_count();
  threads = threads_for(links, threads);
  parallel_for(threads, threads, [&](std::size_t chunk) {
    const auto t = static_cast<EdgeIndex>(threads);
    for (EdgeIndex k = links * chunk / t; k < links * (chunk + 1) / t; ++k) {
      std::atomic_ref(out_degree[in_links.column_indices[k]])
          .fetch_add(1, std::memory_order_relaxed);
    }
  });
  Array<double> inverse(out_degree.size());
  std::transform(out_degree.begin(), out_degree.end(), inverse.begin(), [](EdgeIndex degree) {
    return degree == 0 ? 0 : 1 / static_cast<double>(degree);
  });
  return inverse;
}

}  // namespace

TransitionMatrix make_transition_matrix(EdgeList edges, int threads) {
  threads = thread_count(threads);
  require_valid(edges, threads);
  const NodeId n = edges.node_count;
  const bool weighted = edges.weighted();

  TransitionMatrix matrix;
  BinnedLinks by_target;
  if (weighted) {
    const WeightNormaliser normalise(edges, threads);
    matrix.inverse_out_weight.resize(n);
    for (NodeId node = 0; node < n; ++node) {
      matrix.inverse_out_weight[node] = normalise.dangling(node) ? 0 : 1;
    }
    by_target = bin_links(edges, Key::target, threads);
    parallel_for(by_target.bin_count(), threads, [&](std::size_t bin) {
      for (EdgeIndex l = by_target.bin_offsets[bin]; l < by_target.bin_offsets[bin + 1]; ++l) {
        by_target.weights[l] = normalise(by_target.weights[l], by_target.others[l]);
      }
    });
  } else {
    by_target = bin_links(edges, Key::target, threads);
  }
  edges = {};

  CsrMatrix& in_links = matrix.in_links;
  in_links.row_offsets.resize(std::size_t{n} + 1);
  in_links.row_offsets[n] = by_target.keys.size();
  in_links.column_indices.resize(by_target.keys.size());
  in_links.values.resize(by_target.weights.size());
  parallel_for(by_target.bin_count(), threads,
               [&](std::size_t bin) { sort_bin(by_target, bin, in_links); });
  by_target = {};

  Array<EdgeIndex> offsets = distinct_offsets(in_links, threads);
  matrix.distinct_links = offsets.back();
  if (weighted && matrix.distinct_links < in_links.element_count()) {
    in_links = merge_repeats(in_links, std::move(offsets), threads);
  }
  if (!weighted) matrix.inverse_out_weight = inverse_out_degree(in_links, threads);
  for (NodeId node = 0; node < n; ++node) {
    if (matrix.inverse_out_weight[node] == 0) matrix.dangling.push_back(node);
  }
  return matrix;
}

}  // namespace pagerank

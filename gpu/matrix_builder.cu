#include "gpu/matrix_builder.cuh"

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/reverse_iterator.h>

#include <cub/block/block_reduce.cuh>

#include "core/compensated_sum.hpp"
#include "gpu/device_algorithms.cuh"

namespace pagerank::gpu {
namespace {

/// The sum of one source's weights, in their order: as transition_builder.cpp adds them up,
/// operation by operation. Negative where it is beyond double: then of weights scaled down.
constexpr int overflow_bits = 64;
__device__ double sum_of_weights(const double* weights, std::uint64_t count) {
  constexpr unsigned at_once = 8;  // so that loads do not wait for additions
  CompensatedSum sum;
  std::uint64_t i = 0;
  for (; i + at_once <= count; i += at_once) {
    double next[at_once];
    for (unsigned j = 0; j < at_once; ++j) next[j] = weights[i + j];
    for (unsigned j = 0; j < at_once; ++j) sum.add(next[j]);
  }
  for (; i < count; ++i) sum.add(weights[i]);
  if (isfinite(sum.value())) return sum.value();
  CompensatedSum scaled;
  for (i = 0; i < count; ++i) scaled.add(ldexp(weights[i], -overflow_bits));
  return -scaled.value();
}
__device__ double divided(double weight, double sum) {
  if (sum == 0) return weight;
  return sum > 0 ? weight / sum : ldexp(weight, -overflow_bits) / -sum;
}

constexpr unsigned count_threads = 256;

/// *found += how many keys differ from the one before them.
__global__ void count_distinct(const std::uint64_t* keys, std::uint64_t count,
                               unsigned long long* found) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * count_threads;
  unsigned own = 0;
  for (std::uint64_t i = global_thread_index(); i < count; i += stride) {
    own += i == 0 || keys[i] != keys[i - 1];
  }
  using Reduce = cub::BlockReduce<unsigned, count_threads>;
  __shared__ typename Reduce::TempStorage storage;
  const unsigned sum = Reduce(storage).Sum(own);
  if (threadIdx.x == 0) atomicAdd(found, static_cast<unsigned long long>(sum));
}

/// The steps of building and what they hand on. (All public: nvcc wants it of who has device
/// lambdas.) Links are keys, target above source, `bits` bits each.
struct MatrixBuilder {
  MatrixBuilder(DeviceEntries entries, const MatrixShape& shape, cudaStream_t stream)
      : shape_(shape),
        stream_(stream),
        algorithms_(ScratchMemory(stream)),
        bits_(std::max(1, bits_below(shape.nodes))),
        mask_((std::uint64_t{1} << bits_) - 1),
        links_(entries.count),
        keys_(std::move(entries.places)),
        weights_(std::move(entries.weights)) {}

  DeviceTransitionMatrix build() {
    matrix_.inverse_out_weight = DeviceBuffer<double>(shape_.nodes);
    make_keys();
    if (shape_.weighted) {
      sort_pairs(0, bits_);
      normalise();
      sort_pairs(bits_, 2 * bits_);
      merge_repeated();
    } else {
      count_out_links();
      sort_keys();
      matrix_.distinct_links = distinct();
    }
    split_keys();
    find_dangling();
    PAGERANK_CUDA(cudaStreamSynchronize(stream_));
    return std::move(matrix_);
  }

  /// From rows and columns; of symmetric entries both links, the second behind the first.
  void make_keys() {
    const bool by_row = shape_.source_index == SourceIndex::row;
    const int bits = bits_;
    const auto link = [=] __host__ __device__(std::uint64_t target, std::uint64_t source) {
      return target << bits | source;
    };
    std::uint64_t* const places = keys_.data();
    if (!shape_.symmetric) {
      queue_for_each(
          links_,
          [=] __device__(std::uint64_t e) {
            const std::uint64_t row = places[e] >> 32, column = places[e] & 0xffffffff;
            places[e] = by_row ? link(column, row) : link(row, column);
          },
          stream_);
      return;
    }
    const std::uint64_t entries = links_;
    DeviceBuffer<std::uint64_t> begins(entries + 1, algorithms_.scratch());
    std::uint64_t* const begin = begins.data();
    queue_for_each(
        entries + 1,
        [=] __device__(std::uint64_t e) {
          begin[e] = e == entries ? 0 : places[e] >> 32 == (places[e] & 0xffffffff) ? 1 : 2;
        },
        stream_);
    algorithms_.exclusive_sum(begin, begin, entries + 1);
    links_ = algorithms_.fetch(begin + entries);
    DeviceBuffer<std::uint64_t> keys(links_, algorithms_.scratch());
    DeviceBuffer<double> weights(shape_.weighted ? links_ : 0, algorithms_.scratch());
    std::uint64_t* const key = keys.data();
    const double* const from = weights_.data();
    double* const to = weights.data();
    const bool weighted = shape_.weighted;
    queue_for_each(
        entries,
        [=] __device__(std::uint64_t e) {
          const std::uint64_t row = places[e] >> 32, column = places[e] & 0xffffffff;
          const std::uint64_t at = begin[e];
          key[at] = by_row ? link(column, row) : link(row, column);
          if (weighted) to[at] = from[e];
          if (row == column) return;
          key[at + 1] = by_row ? link(row, column) : link(column, row);
          if (weighted) to[at + 1] = from[e];
        },
        stream_);
    stream_wait();
    keys_ = std::move(keys);
    weights_ = std::move(weights);
  }

  void count_out_links() {
    DeviceBuffer<unsigned long long> counts(shape_.nodes, algorithms_.scratch());
    counts.set_to_zero(stream_);
    unsigned long long* const count = counts.data();
    const std::uint64_t* const key = keys_.data();
    const std::uint64_t mask = mask_;
    queue_for_each(
        links_, [=] __device__(std::uint64_t k) { atomicAdd(count + (key[k] & mask), 1ULL); },
        stream_);
    double* const inverse = matrix_.inverse_out_weight.data();
    queue_for_each(
        shape_.nodes,
        [=] __device__(std::uint64_t node) {
          inverse[node] = count[node] == 0 ? 0 : 1 / static_cast<double>(count[node]);
        },
        stream_);
  }

  void sort_keys() {
    if (links_ == 0) return;
    DeviceBuffer<std::uint64_t> spare(links_, algorithms_.scratch());
    cub::DoubleBuffer<std::uint64_t> keys(keys_.data(), spare.data());
    algorithms_.sort(keys, links_, 0, 2 * bits_);
    if (keys.Current() == spare.data()) exchange(keys_, spare);
  }

  /// Stable, by these bits of the keys.
  void sort_pairs(int begin, int end) {
    if (links_ == 0) return;
    DeviceBuffer<std::uint64_t> spare_keys(links_, algorithms_.scratch());
    DeviceBuffer<double> spare_weights(links_, algorithms_.scratch());
    cub::DoubleBuffer<std::uint64_t> keys(keys_.data(), spare_keys.data());
    cub::DoubleBuffer<double> weights(weights_.data(), spare_weights.data());
    algorithms_.sort(keys, weights, links_, begin, end);
    if (keys.Current() == spare_keys.data()) exchange(keys_, spare_keys);
    if (weights.Current() == spare_weights.data()) exchange(weights_, spare_weights);
  }

  /// Where the links of each node begin, nodes + 1 of them; `shift`: of the node in the keys, which
  /// are sorted by it.
  void find_offsets(int shift, EdgeIndex* offsets) {
    const std::uint64_t nodes = shape_.nodes, links = links_, mask = mask_;
    const std::uint64_t* const key = keys_.data();
    queue_for_each(
        nodes + 1, [=] __device__(std::uint64_t node) { offsets[node] = links; }, stream_);
    queue_for_each(
        links,
        [=] __device__(std::uint64_t k) {
          const std::uint64_t node = key[k] >> shift & mask;
          if (k == 0 || (key[k - 1] >> shift & mask) != node) offsets[node] = k;
        },
        stream_);
    // Nodes without links: where those of the next one begin.
    algorithms_.inclusive_min(thrust::make_reverse_iterator(offsets + nodes + 1), nodes + 1);
  }

  /// Divides weights by the sum of their source's, unless that is 0, the keys sorted by source.
  void normalise() {
    DeviceBuffer<EdgeIndex> offsets(shape_.nodes + 1, algorithms_.scratch());
    DeviceBuffer<double> sums(shape_.nodes, algorithms_.scratch());
    find_offsets(0, offsets.data());
    const EdgeIndex* const offset = offsets.data();
    const std::uint64_t* const key = keys_.data();
    const std::uint64_t mask = mask_;
    double *const inverse = matrix_.inverse_out_weight.data(), *const weight = weights_.data(),
                  *const sum = sums.data();
    queue_for_each(
        shape_.nodes,
        [=] __device__(std::uint64_t node) {
          const EdgeIndex begin = offset[node];
          sum[node] = sum_of_weights(weight + begin, offset[node + 1] - begin);
          inverse[node] = sum[node] == 0 ? 0 : 1;
        },
        stream_);
    queue_for_each(
        links_,
        [=] __device__(std::uint64_t k) { weight[k] = divided(weight[k], sum[key[k] & mask]); },
        stream_);
  }

  [[nodiscard]] EdgeIndex distinct() {
    DeviceBuffer<unsigned long long> found(1, algorithms_.scratch());
    found.set_to_zero(stream_);
    constexpr std::uint64_t most_blocks = 4096;
    const auto blocks = static_cast<unsigned>(
        std::min<std::uint64_t>(blocks_for(links_, count_threads), most_blocks));
    if (blocks > 0) {
      count_distinct<<<blocks, count_threads, 0, stream_>>>(keys_.data(), links_, found.data());
      PAGERANK_CUDA_LAUNCHED(count_distinct);
    }
    return algorithms_.fetch(found.data());
  }

  /// Adds up links of the same two nodes, which are neighbours, in their order.
  void merge_repeated() {
    matrix_.distinct_links = distinct();
    const std::uint64_t links = links_, merged = matrix_.distinct_links;
    if (merged == links) return;
    const std::uint64_t* const key = keys_.data();
    const double* const weight = weights_.data();
    DeviceBuffer<std::uint64_t> firsts(merged, algorithms_.scratch());
    const auto is_first = [=] __device__(std::uint64_t k) {
      return k == 0 || key[k] != key[k - 1];
    };
    (void)algorithms_.select(thrust::counting_iterator<std::uint64_t>(0), firsts.data(), links,
                             is_first);
    DeviceBuffer<std::uint64_t> keys(merged, algorithms_.scratch());
    DeviceBuffer<double> weights(merged, algorithms_.scratch());
    const std::uint64_t* const first = firsts.data();
    std::uint64_t* const key_to = keys.data();
    double* const weight_to = weights.data();
    queue_for_each(
        merged,
        [=] __device__(std::uint64_t i) {
          const std::uint64_t end = i + 1 < merged ? first[i + 1] : links;
          CompensatedSum sum;
          for (std::uint64_t k = first[i]; k < end; ++k) sum.add(weight[k]);
          key_to[i] = key[first[i]];
          weight_to[i] = sum.value();
        },
        stream_);
    stream_wait();
    keys_ = std::move(keys);
    weights_ = std::move(weights);
    links_ = merged;
  }

  /// The arrays of the matrix from the sorted keys.
  void split_keys() {
    matrix_.row_offsets = DeviceBuffer<EdgeIndex>(shape_.nodes + 1);
    find_offsets(bits_, matrix_.row_offsets.data());
    matrix_.column_indices = DeviceBuffer<NodeId>(links_);
    if (shape_.weighted) matrix_.values = DeviceBuffer<double>(links_);
    NodeId* const column = matrix_.column_indices.data();
    double* const value = matrix_.values.data();
    const std::uint64_t* const key = keys_.data();
    const double* const weight = weights_.data();
    const std::uint64_t mask = mask_;
    queue_for_each(
        links_,
        [=] __device__(std::uint64_t k) {
          column[k] = static_cast<NodeId>(key[k] & mask);
          if (value != nullptr) value[k] = weight[k];
        },
        stream_);
  }

  void find_dangling() {
    DeviceBuffer<NodeId> nodes(shape_.nodes, algorithms_.scratch());
    const double* const inverse = matrix_.inverse_out_weight.data();
    matrix_.dangling =
        algorithms_.select(thrust::counting_iterator<NodeId>(0), nodes.data(), shape_.nodes,
                           [=] __device__(NodeId node) { return inverse[node] == 0; });
    if (matrix_.dangling > 0) matrix_.first_dangling = algorithms_.fetch(nodes.data());
  }

  /// Before memory that work is queued on changes hands.
  void stream_wait() { PAGERANK_CUDA(cudaStreamSynchronize(stream_)); }
  template <class T>
  void exchange(DeviceBuffer<T>& one, DeviceBuffer<T>& other) {
    stream_wait();
    std::swap(one, other);
  }

  MatrixShape shape_;
  cudaStream_t stream_;
  DeviceAlgorithms algorithms_;
  int bits_;            ///< Of a node in a key.
  std::uint64_t mask_;  ///< Of those.
  std::uint64_t links_;
  DeviceBuffer<std::uint64_t> keys_;
  DeviceBuffer<double> weights_;
  DeviceTransitionMatrix matrix_;
};

}  // namespace

DeviceTransitionMatrix build_transition_matrix(DeviceEntries entries, const MatrixShape& shape,
                                               cudaStream_t stream) {
  return MatrixBuilder(std::move(entries), shape, stream).build();
}

}  // namespace pagerank::gpu

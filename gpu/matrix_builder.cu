#include "gpu/matrix_builder.cuh"

#include <thrust/iterator/counting_iterator.h>

#include <cub/block/block_reduce.cuh>

#include "core/piecewise_sum.hpp"
#include "gpu/device_algorithms.cuh"
#include "gpu/run_sums.cuh"

namespace pagerank::gpu {
namespace {

constexpr int overflow_bits = 64;

/// Where the sum of one source's weights is beyond double: that of weights scaled down, negative.
/// By one thread, for such sources are rare.
__device__ double scaled_sum_of(const double* weights, std::uint64_t count) {
  PiecewiseSum scaled;
  for (std::uint64_t i = 0; i < count; ++i) scaled.add(ldexp(weights[i], -overflow_bits));
  return -scaled.value();
}
__device__ double divided(double weight, double sum) {
  if (sum == 0) return weight;
  return sum > 0 ? weight / sum : ldexp(weight, -overflow_bits) / -sum;
}

constexpr unsigned split_threads = 256;

/// Of keys in order, of which the half at `shift` is the column: columns[k], values[k] = weights[k]
/// where there are any, offsets[row] of rows that have links, and *distinct += how many keys differ
/// from the one before them.
__global__ void split_links(const std::uint64_t* keys, const double* weights, std::uint64_t count,
                            int shift, NodeId* columns, double* values, EdgeIndex* offsets,
                            unsigned long long* distinct) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * split_threads;
  unsigned own = 0;
  for (std::uint64_t k = global_thread_index(); k < count; k += stride) {
    const std::uint64_t key = keys[k], before = k == 0 ? ~key : keys[k - 1];
    own += key != before;
    const auto row = static_cast<NodeId>(key >> (32 - shift));
    if (row != static_cast<NodeId>(before >> (32 - shift))) offsets[row] = k;
    columns[k] = static_cast<NodeId>(key >> shift);
    if (values != nullptr) values[k] = weights[k];
  }
  using Reduce = cub::BlockReduce<unsigned, split_threads>;
  __shared__ typename Reduce::TempStorage storage;
  const unsigned sum = Reduce(storage).Sum(own);
  if (threadIdx.x == 0) atomicAdd(distinct, static_cast<unsigned long long>(sum));
}

/// The steps of building and what they hand on. (All public: nvcc wants it of who has device
/// lambdas.) Links are keys, row above column as in the text: sorted by source, so that what is of
/// one source is together, and then by target, which keeps the sources of each in order.
struct MatrixBuilder {
  MatrixBuilder(DeviceEntries entries, const MatrixShape& shape, cudaStream_t stream)
      : shape_(shape),
        stream_(stream),
        algorithms_(ScratchMemory(stream)),
        source_shift_(shape.source_index == SourceIndex::row ? 32 : 0),
        target_shift_(32 - source_shift_),
        links_(entries.count),
        keys_(std::move(entries.places)),
        weights_(std::move(entries.weights)) {}

  DeviceTransitionMatrix build() {
    matrix_.inverse_out_weight = DeviceBuffer<double>(shape_.nodes);
    if (shape_.symmetric) add_mirrored_links();
    sort(source_shift_);
    if (shape_.weighted) {
      normalise();
    } else {
      count_out_links();
    }
    sort(target_shift_);
    split_keys();
    if (shape_.weighted && matrix_.distinct_links < links_) {
      spare_keys_ = {};
      spare_weights_ = {};
      matrix_.row_offsets = {};
      matrix_.column_indices = {};
      matrix_.values = {};
      merge_repeated();
      split_keys();
    }
    find_dangling();
    PAGERANK_CUDA(cudaStreamSynchronize(stream_));
    return std::move(matrix_);
  }

  /// Of symmetric entries both links, the second behind the first.
  void add_mirrored_links() {
    const std::uint64_t entries = links_;
    DeviceBuffer<std::uint64_t> begins(entries + 1);  // no scratch memory: no sort fits into it
    std::uint64_t* const begin = begins.data();
    const std::uint64_t* const places = keys_.data();
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
          key[at] = places[e];
          if (weighted) to[at] = from[e];
          if (row == column) return;
          key[at + 1] = column << 32 | row;
          if (weighted) to[at + 1] = from[e];
        },
        stream_);
    stream_wait();
    keys_ = std::move(keys);
    weights_ = std::move(weights);
  }

  /// Stable, by the nodes in this half of the keys.
  void sort(int shift) {
    if (links_ == 0) return;
    const int end = shift + std::max(1, bits_below(shape_.nodes));
    if (spare_keys_.size() == 0) {
      spare_keys_ = DeviceBuffer<std::uint64_t>(links_, algorithms_.scratch());
      spare_weights_ = DeviceBuffer<double>(shape_.weighted ? links_ : 0, algorithms_.scratch());
    }
    cub::DoubleBuffer<std::uint64_t> keys(keys_.data(), spare_keys_.data());
    if (shape_.weighted) {
      cub::DoubleBuffer<double> weights(weights_.data(), spare_weights_.data());
      algorithms_.sort(keys, weights, links_, shift, end);
      if (weights.Current() == spare_weights_.data()) std::swap(weights_, spare_weights_);
    } else {
      algorithms_.sort(keys, links_, shift, end);
    }
    if (keys.Current() == spare_keys_.data()) std::swap(keys_, spare_keys_);
  }

  /// Where the links of each source begin, nodes + 1 of them, sorted by source.
  void find_offsets(EdgeIndex* offsets) {
    const std::uint64_t* const key = keys_.data();
    const int shift = source_shift_;
    queue_offsets(
        links_, shape_.nodes, offsets,
        [=] __device__(std::uint64_t k) { return static_cast<NodeId>(key[k] >> shift); },
        algorithms_);
  }

  /// From links sorted by source.
  void count_out_links() {
    DeviceBuffer<EdgeIndex> offsets(shape_.nodes + 1, algorithms_.scratch());
    find_offsets(offsets.data());
    const EdgeIndex* const offset = offsets.data();
    double* const inverse = matrix_.inverse_out_weight.data();
    queue_for_each(
        shape_.nodes,
        [=] __device__(std::uint64_t node) {
          const EdgeIndex count = offset[node + 1] - offset[node];
          inverse[node] = count == 0 ? 0 : 1 / static_cast<double>(count);
        },
        stream_);
  }

  /// Divides weights by the sum of their source's, unless that is 0: of links sorted by source.
  void normalise() {
    DeviceBuffer<EdgeIndex> offsets(shape_.nodes + 1, algorithms_.scratch());
    DeviceBuffer<double> sums(shape_.nodes, algorithms_.scratch());
    find_offsets(offsets.data());
    const EdgeIndex* const offset = offsets.data();
    const std::uint64_t* const key = keys_.data();
    const int shift = source_shift_;
    double *const inverse = matrix_.inverse_out_weight.data(), *const weight = weights_.data(),
                  *const sum = sums.data();
    sum_runs(weight, offset, shape_.nodes, links_, sum, algorithms_);
    queue_for_each(
        shape_.nodes,
        [=] __device__(std::uint64_t node) {
          const EdgeIndex begin = offset[node];
          if (!isfinite(sum[node])) {
            sum[node] = scaled_sum_of(weight + begin, offset[node + 1] - begin);
          }
          inverse[node] = sum[node] == 0 ? 0 : 1;
        },
        stream_);
    queue_for_each(
        links_,
        [=] __device__(std::uint64_t k) {
          weight[k] = divided(weight[k], sum[static_cast<NodeId>(key[k] >> shift)]);
        },
        stream_);
  }

  /// Adds up links of the same two nodes, which are neighbours, in their order.
  void merge_repeated() {
    const std::uint64_t links = links_, merged = matrix_.distinct_links;
    const std::uint64_t* const key = keys_.data();
    DeviceBuffer<std::uint64_t> firsts(merged + 1, algorithms_.scratch());
    const auto is_first = [=] __device__(std::uint64_t k) {
      return k == 0 || key[k] != key[k - 1];
    };
    (void)algorithms_.select(thrust::counting_iterator<std::uint64_t>(0), firsts.data(), links,
                             is_first);
    queue_fill(links, firsts.data() + merged, 1, stream_);
    const std::uint64_t* const first = firsts.data();
    {
      DeviceBuffer<std::uint64_t> keys(merged, algorithms_.scratch());
      std::uint64_t* const key_to = keys.data();
      queue_for_each(
          merged, [=] __device__(std::uint64_t i) { key_to[i] = key[first[i]]; }, stream_);
      stream_wait();
      keys_ = std::move(keys);
    }  // The keys before go here, and weights may lie where they were: nobody reckons with more.
    DeviceBuffer<double> weights(merged, algorithms_.scratch());
    sum_runs(weights_.data(), first, merged, links, weights.data(), algorithms_);
    stream_wait();
    weights_ = std::move(weights);
    links_ = merged;
  }

  /// The arrays of the matrix from the sorted keys.
  void split_keys() {
    matrix_.row_offsets = DeviceBuffer<EdgeIndex>(shape_.nodes + 1);
    EdgeIndex* const offsets = matrix_.row_offsets.data();
    queue_fill(links_, offsets, shape_.nodes + 1, stream_);
    matrix_.column_indices = DeviceBuffer<NodeId>(links_);
    if (shape_.weighted) matrix_.values = DeviceBuffer<double>(links_);
    DeviceBuffer<unsigned long long> distinct(1, algorithms_.scratch());
    distinct.set_to_zero(stream_);
    if (links_ > 0) {
      constexpr std::uint64_t most_blocks = 4096;
      const auto blocks = static_cast<unsigned>(
          std::min<std::uint64_t>(blocks_for(links_, split_threads), most_blocks));
      split_links<<<blocks, split_threads, 0, stream_>>>(
          keys_.data(), weights_.data(), links_, source_shift_, matrix_.column_indices.data(),
          matrix_.values.data(), offsets, distinct.data());
      PAGERANK_CUDA_LAUNCHED(split_links);
    }
    algorithms_.least_of_rest(offsets, shape_.nodes + 1);  // rows without links: the next one's
    matrix_.distinct_links = algorithms_.fetch(distinct.data());
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

  MatrixShape shape_;
  cudaStream_t stream_;
  DeviceAlgorithms algorithms_;
  int source_shift_, target_shift_;  ///< Of the nodes in a key.
  std::uint64_t links_;
  DeviceBuffer<std::uint64_t> keys_, spare_keys_;
  DeviceBuffer<double> weights_, spare_weights_;
  DeviceTransitionMatrix matrix_;
};

}  // namespace

DeviceTransitionMatrix build_transition_matrix(DeviceEntries entries, const MatrixShape& shape,
                                               cudaStream_t stream) {
  return MatrixBuilder(std::move(entries), shape, stream).build();
}

}  // namespace pagerank::gpu

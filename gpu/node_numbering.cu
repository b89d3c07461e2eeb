#include <bit>

#include "core/parallel.hpp"
#include "gpu/device_algorithms.cuh"
#include "gpu/node_numbering.cuh"

namespace pagerank::gpu {
namespace {

constexpr unsigned word_bits = LabelRange::word_bits;

/// A label's node where every value of the range occurs,
struct OffsetNumber {
  std::uint64_t least;
  [[nodiscard]] __device__ std::uint64_t operator()(std::uint64_t label) const {
    return label - least;
  }
};
/// where bits say which do, and an array how many before each word of them,
struct BitNumber {
  const unsigned long long* words;
  const std::uint64_t* before;
  std::uint64_t least;
  [[nodiscard]] __device__ std::uint64_t operator()(std::uint64_t label) const {
    const std::uint64_t offset = label - least;
    const std::uint64_t lower = (std::uint64_t{1} << offset % word_bits) - 1;
    return before[offset / word_bits] + __popcll(words[offset / word_bits] & lower);
  }
};
/// and where the labels that occur are sorted.
struct SortedNumber {
  const std::uint64_t* labels;
  std::uint64_t nodes;
  [[nodiscard]] __device__ std::uint64_t operator()(std::uint64_t label) const {
    return lower_bound(labels, nodes, label);
  }
};

/// (All public: nvcc wants it of who has device lambdas.)
struct NodeNumbering {
  NodeNumbering(LabelledEntries entries, const LabelRange& range, cudaStream_t stream)
      : entries_(std::move(entries)),
        range_(range),
        stream_(stream),
        algorithms_(ScratchMemory(stream)) {}

  /// Queues what makes the places of entries by what number(label) is; `nodes` are below 2^32.
  template <class Number>
  void number_by(Number number) {
    numbered_.entries.places = DeviceBuffer<std::uint64_t>(entries_.count);
    std::uint64_t* const places = numbered_.entries.places.data();
    const std::uint64_t* const labels = entries_.labels.data();
    queue_for_each(
        entries_.count,
        [=] __device__(std::uint64_t e) {
          places[e] = number(labels[2 * e]) << 32 | number(labels[2 * e + 1]);
        },
        stream_);
  }

  void number_close_labels(const std::function<void(std::uint64_t)>& require_nodes, int threads) {
    const std::uint64_t count = range_.words(), least = range_.least;
    DeviceBuffer<unsigned long long> words(count);
    DeviceBuffer<std::uint64_t> before(count + 1);
    mark(words);
    unsigned long long* const word = words.data();
    std::uint64_t* const sum = before.data();
    queue_for_each(
        count + 1,
        [=] __device__(std::uint64_t w) {
          sum[w] = w < count ? static_cast<std::uint64_t>(__popcll(word[w])) : 0;
        },
        stream_);
    algorithms_.exclusive_sum(sum, sum, count + 1);
    numbered_.nodes = algorithms_.fetch(sum + count);
    require_nodes(numbered_.nodes);
    if (numbered_.nodes - 1 == range_.most - least) {
      number_by(OffsetNumber{least});
      write_all_labels(threads);
    } else {
      number_by(BitNumber{word, sum, least});
      DeviceBuffer<std::uint64_t> labels(numbered_.nodes);
      std::uint64_t* const label = labels.data();
      queue_for_each(
          count,
          [=] __device__(std::uint64_t w) {
            std::uint64_t node = sum[w];
            for (unsigned long long rest = word[w]; rest != 0; rest &= rest - 1) {
              label[node++] = least + w * word_bits + static_cast<unsigned>(__ffsll(rest) - 1);
            }
          },
          stream_);
      fetch_labels(labels.data());
    }
    PAGERANK_CUDA(cudaStreamSynchronize(stream_));
  }

  /// Sets the bits of all labels.
  void mark(DeviceBuffer<unsigned long long>& words) {
    words.set_to_zero(stream_);
    unsigned long long* const word = words.data();
    const std::uint64_t* const labels = entries_.labels.data();
    const std::uint64_t least = range_.least;
    queue_for_each(
        2 * entries_.count,
        [=] __device__(std::uint64_t i) {
          const std::uint64_t offset = labels[i] - least;
          const unsigned long long bit = 1ULL << offset % word_bits;
          // Most have been marked before, and looking is cheaper; if what is seen is old, no
          // matter.
          if ((word[offset / word_bits] & bit) == 0) atomicOr(word + offset / word_bits, bit);
        },
        stream_);
  }

  void number_any_labels(const std::function<void(std::uint64_t)>& require_nodes) {
    const std::uint64_t count = 2 * entries_.count;
    DeviceBuffer<std::uint64_t> one(count), other(count);
    PAGERANK_CUDA(cudaMemcpyAsync(one.data(), entries_.labels.data(), count * sizeof(std::uint64_t),
                                  cudaMemcpyDeviceToDevice, stream_));
    cub::DoubleBuffer<std::uint64_t> keys(one.data(), other.data());
    algorithms_.sort(keys, count, 0, static_cast<int>(std::bit_width(range_.most)));
    if (keys.Current() == other.data()) std::swap(one, other);
    numbered_.nodes = algorithms_.unique(one.data(), other.data(), count);
    require_nodes(numbered_.nodes);
    one = DeviceBuffer<std::uint64_t>();
    number_by(SortedNumber{other.data(), numbered_.nodes});
    fetch_labels(other.data());
  }

  void fetch_labels(const std::uint64_t* labels) {
    numbered_.labels.resize(numbered_.nodes);
    PAGERANK_CUDA(cudaMemcpyAsync(numbered_.labels.data(), labels,
                                  numbered_.nodes * sizeof(std::uint64_t), cudaMemcpyDeviceToHost,
                                  stream_));
    PAGERANK_CUDA(cudaStreamSynchronize(stream_));
  }

  /// All values of the range; none if they count from 1.
  void write_all_labels(int threads) {
    if (range_.least == 1) return;
    numbered_.labels.resize(numbered_.nodes);
    parallel_for_blocks(static_cast<NodeId>(numbered_.nodes), thread_count(threads),
                        [this](std::size_t, NodeId begin, NodeId end) {
                          for (NodeId node = begin; node < end; ++node) {
                            numbered_.labels[node] = range_.least + node;
                          }
                        });
  }

  [[nodiscard]] NumberedEntries take() {
    numbered_.entries.count = entries_.count;
    numbered_.entries.weights = std::move(entries_.weights);
    return std::move(numbered_);
  }

  LabelledEntries entries_;
  LabelRange range_;
  cudaStream_t stream_;
  DeviceAlgorithms algorithms_;
  NumberedEntries numbered_;
};

}  // namespace

LabelRange range_of(const LabelledEntries& entries, cudaStream_t stream) {
  DeviceAlgorithms algorithms{ScratchMemory(stream)};
  const std::uint64_t* const labels = entries.labels.data();
  return {algorithms.least(labels, 2 * entries.count),
          algorithms.greatest(labels, 2 * entries.count)};
}

NumberedEntries number_nodes(LabelledEntries entries, const LabelRange& range,
                             const std::function<void(std::uint64_t)>& require_nodes, int threads,
                             cudaStream_t stream) {
  const bool close = range.is_close(entries.count);
  NodeNumbering numbering(std::move(entries), range, stream);
  if (close) {
    numbering.number_close_labels(require_nodes, threads);
  } else {
    numbering.number_any_labels(require_nodes);
  }
  return numbering.take();
}

}  // namespace pagerank::gpu

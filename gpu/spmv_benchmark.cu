#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>

#include "gpu/benchmark.hpp"
#include "gpu/device.cuh"
#include "gpu/renumber.cuh"
#include "gpu/spmv.cuh"
#include "gpu/timing.cuh"

namespace pagerank::gpu {

class SpmvBenchmark::Impl {
 public:
  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  virtual ~Impl() = default;
  [[nodiscard]] virtual std::size_t node_count() const = 0;
  virtual Timing run(const SpmvKernel& kernel, std::span<const double> x, std::vector<double>& y,
                     const TimingOptions& options) = 0;
};

namespace {

template <class T>
class TypedSpmvBenchmark final : public SpmvBenchmark::Impl {
 public:
  TypedSpmvBenchmark(const TransitionMatrix& matrix, int device, std::string name, bool values)
      : device_(device),
        name_(std::move(name)),
        host_matrix_(matrix),
        graph_(uploaded(matrix, name_, values, ring_)),
        x_(matrix.node_count()),
        y_(matrix.node_count()) {
    if (values && !matrix.weighted()) graph_.store_values(stream_);
    (void)graph_.in_links();  // have arrived: they are no part of any kernel's preparation
    stream_.wait();
  }

  [[nodiscard]] std::size_t node_count() const override { return x_.size(); }

  Timing run(const SpmvKernel& kernel, std::span<const double> x, std::vector<double>& y,
             const TimingOptions& options) override {
    PAGERANK_CUDA(cudaSetDevice(device_));
    DeviceMemory{name_}.require(kernel.extra_bytes(host_matrix_, sizeof(T)));
    Timing timing;
    const auto begin = std::chrono::steady_clock::now();
    const auto spmv = kernel.make<T>(graph_, stream_);
    stream_.wait();
    timing.prepare_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    timing.bytes = spmv->bytes_to_multiply();
    const auto multiply = [&] { spmv->multiply(x_.data(), y_.data(), stream_); };
    // What a kernel keeps from one multiplication is to show in the next.
    x_.set_to_zero(stream_);
    multiply();
    stream_.wait();
    ring_.copy(x, y_.data());
    to_kernel_order(spmv->order(), y_.size(), y_.data(), x_.data(), stream_);

    // What a kernel does not write is not a number, and so cannot pass for a result.
    PAGERANK_CUDA(cudaMemsetAsync(y_.data(), 0xff, y_.size() * sizeof(T), stream_));
    const std::uint64_t isolated = spmv->isolated_nodes();
    PAGERANK_CUDA(
        cudaMemsetAsync(y_.data() + (y_.size() - isolated), 0, isolated * sizeof(T), stream_));
    multiply();
    stream_.wait();
    DeviceBuffer<T> in_node_order(y_.size());
    to_node_order(spmv->order(), y_.size(), y_.data(), in_node_order.data(), stream_);
    stream_.wait();
    const std::vector<T> result = in_node_order.download();
    y.assign(result.begin(), result.end());
    timing.samples = time_on_device(stream_, options, multiply);
    return timing;
  }

 private:
  static DeviceGraph<T> uploaded(const TransitionMatrix& matrix, const std::string& name,
                                 bool values, TransferRing& ring) {
    const std::size_t value_bytes = values && !matrix.weighted() ? sizeof(T) : 0;
    DeviceMemory{name}.require(DeviceGraph<T>::bytes(matrix) + matrix.link_count() * value_bytes +
                               2 * matrix.node_count() * sizeof(T));
    return {matrix, ring};
  }

  int device_;
  std::string name_;
  const TransitionMatrix& host_matrix_;  ///< For the kernels' estimates.
  Stream stream_;
  TransferRing ring_;
  DeviceGraph<T> graph_;
  DeviceBuffer<T> x_, y_;
};

}  // namespace

SpmvBenchmark::SpmvBenchmark(const TransitionMatrix& matrix, int device, Precision precision,
                             bool values) {
  const std::string name = enter_device(device);
  if (precision == Precision::float64) {
    impl_ = std::make_unique<TypedSpmvBenchmark<double>>(matrix, device, name, values);
  } else {
    impl_ = std::make_unique<TypedSpmvBenchmark<float>>(matrix, device, name, values);
  }
}
SpmvBenchmark::~SpmvBenchmark() = default;

Timing SpmvBenchmark::run(std::string_view kernel, std::span<const double> x,
                          std::vector<double>& y, const TimingOptions& options) {
  if (x.size() != impl_->node_count()) {
    throw std::invalid_argument("x has " + std::to_string(x.size()) + " elements, the graph " +
                                std::to_string(impl_->node_count()) + " nodes");
  }
  return impl_->run(find_spmv_kernel(kernel), x, y, options);
}

}  // namespace pagerank::gpu

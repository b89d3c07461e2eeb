#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "gpu/benchmark.hpp"
#include "gpu/device.cuh"
#include "gpu/reduction.cuh"
#include "gpu/timing.cuh"
#include "gpu/transfer_ring.cuh"

namespace pagerank::gpu {

class ReductionBenchmark::Impl {
 public:
  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  virtual ~Impl() = default;
  virtual Timing run(const ReductionKernel& kernel, double& sum, const TimingOptions& options) = 0;
};

namespace {

template <class T>
class TypedReductionBenchmark final : public ReductionBenchmark::Impl {
 public:
  TypedReductionBenchmark(std::span<const double> x, int device)
      : device_(device), x_(ring_.upload<T>(x)), sum_(1) {}

  Timing run(const ReductionKernel& kernel, double& sum, const TimingOptions& options) override {
    PAGERANK_CUDA(cudaSetDevice(device_));
    Timing timing;
    const auto begin = std::chrono::steady_clock::now();
    const auto reduction = kernel.make<T>(x_.size(), stream_);
    stream_.wait();
    timing.prepare_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    timing.bytes = x_.size() * sizeof(T);

    PAGERANK_CUDA(cudaMemsetAsync(sum_.data(), 0xff, sizeof(T), stream_));
    const auto reduce = [&] { reduction->reduce(x_.data(), sum_.data(), stream_); };
    reduce();
    stream_.wait();
    sum = sum_.download().front();
    timing.samples = time_on_device(stream_, options, reduce);
    return timing;
  }

 private:
  int device_;
  Stream stream_;
  TransferRing ring_;
  DeviceBuffer<T> x_, sum_;
};

}  // namespace

std::vector<Kernel> reductions() {
  std::vector<Kernel> list;
  for (const ReductionKernel& kernel : reduction_kernels()) {
    list.push_back({kernel.name, kernel.lesson, true, kernel.wide_sums});
  }
  return list;
}

ReductionBenchmark::ReductionBenchmark(std::span<const double> x, int device, Precision precision) {
  enter_device(device);
  if (precision == Precision::float64) {
    impl_ = std::make_unique<TypedReductionBenchmark<double>>(x, device);
  } else {
    impl_ = std::make_unique<TypedReductionBenchmark<float>>(x, device);
  }
}
ReductionBenchmark::~ReductionBenchmark() = default;

Timing ReductionBenchmark::run(std::string_view reduction, double& sum,
                               const TimingOptions& options) {
  for (const ReductionKernel& kernel : reduction_kernels()) {
    if (kernel.name == reduction) return impl_->run(kernel, sum, options);
  }
  throw std::invalid_argument("there is no reduction '" + std::string(reduction) + "'");
}

}  // namespace pagerank::gpu

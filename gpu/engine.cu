#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "gpu/cuda_handles.cuh"
#include "gpu/device.cuh"
#include "gpu/kernel_choice.hpp"
#include "gpu/pagerank.hpp"
#include "gpu/prepared_graph.cuh"
#include "gpu/spmv.cuh"

namespace pagerank::gpu {

class Engine::Impl {
 public:
  Impl(const TransitionMatrix& matrix, const EngineOptions& options) : device_(options.device) {
    enter(matrix.node_count(), options);
    dangling_count_ = matrix.dangling.size();
    if (dangling_count_ > 0) first_dangling_ = matrix.dangling.front();
    prepare(matrix, options);
  }

  Impl(std::shared_ptr<const DeviceTransitionMatrix> matrix, const EngineOptions& options)
      : device_(options.device) {
    enter(matrix->node_count(), options);
    dangling_count_ = matrix->dangling;
    first_dangling_ = matrix->first_dangling;
    prepare(matrix, options);
  }

  [[nodiscard]] Solution solve(const Problem& problem, const SolveOptions& options) {
    if (problem.dangling == DanglingPolicy::error && dangling_count_ > 0) {
      throw DanglingNodesError(first_dangling_, dangling_count_);
    }
    PAGERANK_CUDA(cudaSetDevice(device_));
    return single_ ? single_->solve(problem, options) : double_->solve(problem, options);
  }

  [[nodiscard]] std::uint64_t bytes_per_iteration() const {
    return single_ ? single_->bytes_per_iteration() : double_->bytes_per_iteration();
  }
  [[nodiscard]] bool loops_on_device() const {
    return single_ ? single_->loops_on_device() : double_->loops_on_device();
  }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::string_view kernel() const { return kernel_->name; }

 private:
  static constexpr std::string_view automatic_kernel = "auto";
  /// Takes every graph and hardly more memory than that.
  static constexpr std::string_view modest_kernel = "balanced";

  void enter(std::uint64_t nodes, const EngineOptions& options) {
    if (nodes == 0) throw std::invalid_argument("the graph has no nodes");
    automatic_ = options.kernel.empty() || options.kernel == automatic_kernel;
    kernel_ = &find_spmv_kernel(automatic_ ? modest_kernel : options.kernel);
    name_ = enter_device(device_);
  }

  /// What `make` returns, or nothing if the graph is not for the kernel or memory too short.
  template <class Make>
  static std::invoke_result_t<Make> or_none(const Make& make) {
    try {
      return make();
    } catch (const KernelRefused&) {
    } catch (const OutOfMemory&) {
    }
    return {};
  }

  void prepare(const TransitionMatrix& matrix, const EngineOptions& options) {
    if (options.precision == Precision::float64) {
      prepare_as(double_, matrix, 0, options, [&](TransferRing& ring, std::size_t most_held) {
        return DeviceGraph<double>(matrix, ring, options.upload_stretch, most_held);
      });
    } else {
      prepare_as(single_, matrix, 0, options, [&](TransferRing& ring, std::size_t most_held) {
        return DeviceGraph<float>(matrix, ring, options.upload_stretch, most_held);
      });
    }
  }
  void prepare(const std::shared_ptr<const DeviceTransitionMatrix>& matrix,
               const EngineOptions& options) {
    if (options.precision == Precision::float64) {
      prepare_as(double_, *matrix, matrix->bytes(), options,
                 [&](TransferRing&, std::size_t most_held) {
                   return DeviceGraph<double>(matrix, most_held);
                 });
    } else {
      prepare_as(single_, *matrix, matrix->bytes(), options,
                 [&](TransferRing&, std::size_t most_held) {
                   return DeviceGraph<float>(matrix, most_held);
                 });
    }
  }

  /// Where nobody asked for a kernel it is chosen while the links are on their way, and the modest
  /// one taken if the graph is not for the other or memory too short; if that is in doubt, too, for
  /// a solve may tell. The matrix itself may hold so many bytes of the device already.
  template <class T, class Matrix, class MakeGraph>
  void prepare_as(std::unique_ptr<PreparedGraph<T>>& prepared, const Matrix& matrix,
                  std::size_t held, const EngineOptions& options, const MakeGraph& make_graph) {
    const DeviceMemory memory{name_, options.memory_limit};
    const std::size_t most = memory.available(held), most_held = memory.most_held(held);
    const auto bytes_with = [&](const SpmvKernel& kernel) {
      return held + PreparedGraph<T>::bytes(matrix, kernel, options.precision == Precision::mixed);
    };
    const auto make_spmv = [&](const DeviceGraph<T>& graph, cudaStream_t stream,
                               LaterKernel<T>& later) {
      if (automatic_) {
        const KernelChoice choice =
            choose_kernel(graph.sampler(), options.precision, options.expected, memory_bandwidth());
        const SpmvKernel& chosen = find_spmv_kernel(choice.doubtful() ? "blocked" : choice.kernel);
        const auto make = [&chosen](const DeviceGraph<T>& of, cudaStream_t in) {
          return or_none([&] { return chosen.make<T>(of, in); });
        };
        const bool fits = or_none([&] {
          memory.require(bytes_with(chosen), held + DeviceGraph<T>::bytes(matrix));
          return true;
        });
        if (fits && choice.doubtful()) {
          later = {.payback = choice.payback,
                   .beside = choice.beside,
                   .solves = options.expected.solves,
                   .make = make,
                   .taken = [this, &chosen] { kernel_ = &chosen; }};
        } else if (fits) {
          if (std::unique_ptr<Spmv<T>> spmv = make(graph, stream)) {
            kernel_ = &chosen;
            return spmv;
          }
        }
      }
      return kernel_->make<T>(graph, stream);
    };
    const auto prepare_graph = [&] {
      prepared = std::make_unique<PreparedGraph<T>>(
          [&](TransferRing& ring) { return make_graph(ring, most_held); }, make_spmv, options);
    };
    memory.require(bytes_with(*kernel_), held);
    try {
      try {
        prepare_graph();
      } catch (const OutOfMemory&) {
        // The chosen kernel may have left too little for the vectors.
        if (!automatic_ || kernel_->name == modest_kernel) throw;
        automatic_ = false;
        kernel_ = &find_spmv_kernel(modest_kernel);
        prepare_graph();
      }
    } catch (const OutOfMemory& error) {
      // It speaks of an array, beside what had been taken.
      if (error.needed() == 0) throw;
      const std::size_t taken = most - std::min<std::size_t>(most, error.available());
      throw OutOfMemory(name_, error.needed() + taken, most);
    }
  }

  bool automatic_ = false;  ///< Nobody asked for the kernel.
  const SpmvKernel* kernel_ = nullptr;
  int device_;
  std::string name_;
  NodeId first_dangling_ = 0;
  std::size_t dangling_count_ = 0;
  std::unique_ptr<PreparedGraph<float>> single_;
  std::unique_ptr<PreparedGraph<double>> double_;
};

Engine::Engine(const TransitionMatrix& matrix, const EngineOptions& options)
    : impl_(std::make_unique<Impl>(matrix, options)) {}
Engine::Engine(DeviceMatrix matrix, const EngineOptions& options)
    : impl_(std::make_unique<Impl>(
          std::shared_ptr<const DeviceTransitionMatrix>(matrix.take_arrays()), options)) {}
Engine::~Engine() = default;
Solution Engine::solve(const Problem& problem, const SolveOptions& options) {
  return impl_->solve(problem, options);
}
std::string Engine::device() const {
  return impl_->name();
}
std::uint64_t Engine::bytes_per_iteration() const {
  return impl_->bytes_per_iteration();
}
std::string_view Engine::kernel() const {
  return impl_->kernel();
}
bool Engine::loops_on_device() const {
  return impl_->loops_on_device();
}

}  // namespace pagerank::gpu

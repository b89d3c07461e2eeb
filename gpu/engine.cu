#include <algorithm>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "gpu/cuda_handles.cuh"
#include "gpu/device.cuh"
#include "gpu/kernel_choice.hpp"
#include "gpu/pagerank.hpp"
#include "gpu/prepared_graph.cuh"
#include "gpu/row_sample.hpp"
#include "gpu/spmv.cuh"

namespace pagerank::gpu {

class Engine::Impl {
 public:
  Impl(const TransitionMatrix& matrix, const EngineOptions& options) : device_(options.device) {
    enter(matrix.node_count(), options);
    dangling_count_ = matrix.dangling.size() + matrix.more_unlinked;
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
  /// What it may be worth to go over to.
  static constexpr std::string_view later_kernel = "blocked";

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
    // Looked at by another thread, beside all that comes before the links.
    const bool apart = automatic_ && matrix.link_count() >= least_links_to_look_at;
    const auto begin_to_look = [&, device = device_traits()] {
      return look(HostSampler(matrix), options, device);
    };
    std::future<Look> looking =
        std::async(apart ? std::launch::async : std::launch::deferred, begin_to_look);
    const auto prepare_in = [&]<class T>(std::unique_ptr<PreparedGraph<T>>& prepared) {
      prepare_as(
          prepared, matrix, 0, options, [&](const DeviceGraph<T>&) { return looking.get(); },
          [&](TransferRing& ring, const GraphMemory& memory) {
            return DeviceGraph<T>(matrix, ring, options.upload_stretch, memory);
          });
    };
    options.precision == Precision::float64 ? prepare_in(double_) : prepare_in(single_);
  }
  void prepare(const std::shared_ptr<const DeviceTransitionMatrix>& matrix,
               const EngineOptions& options) {
    const auto prepare_in = [&]<class T>(std::unique_ptr<PreparedGraph<T>>& prepared) {
      prepare_as(
          prepared, *matrix, matrix->bytes(), options,
          [&](const DeviceGraph<T>& graph) {
            return look(graph.sampler(), options, device_traits());
          },
          [&](TransferRing&, const GraphMemory& memory) { return DeviceGraph<T>(matrix, memory); });
    };
    options.precision == Precision::float64 ? prepare_in(double_) : prepare_in(single_);
  }

  /// What a look at a graph tells.
  struct Look {
    KernelChoice choice;
    std::optional<RowSample> sample;  ///< For who prepares a kernel when the matrix may be gone.
  };
  [[nodiscard]] static Look look(const MatrixSampler& matrix, const EngineOptions& options,
                                 const DeviceTraits& device) {
    Look found{.choice = choose_kernel(matrix, options.precision, options.expected, device),
               .sample = {}};
    if (found.choice.doubtful()) found.sample = sample_rows(matrix);
    return found;
  }

  /// Where nobody asked for a kernel it is chosen while the links are on their way, and the modest
  /// one taken if the graph is not for the other or memory too short; if that is in doubt, too, for
  /// a solve may tell. The matrix itself may hold so many bytes of the device already.
  template <class T, class Matrix, class LookAt, class MakeGraph>
  void prepare_as(std::unique_ptr<PreparedGraph<T>>& prepared, const Matrix& matrix,
                  std::size_t held, const EngineOptions& options, const LookAt& look_at,
                  const MakeGraph& make_graph) {
    const DeviceMemory memory{name_, options.memory_limit};
    const std::size_t most = memory.available(held), most_held = memory.most_held(held);
    const auto bytes_with = [&](const SpmvKernel& kernel) {
      return held + PreparedGraph<T>::bytes(matrix, kernel, options.precision == Precision::mixed);
    };
    const auto fits = [&](const SpmvKernel& kernel) {
      return or_none([&] {
        memory.require(bytes_with(kernel), held + DeviceGraph<T>::bytes(matrix));
        return true;
      });
    };
    const auto plan = [&](DeviceGraph<T>& graph) {
      if (!automatic_) return KernelPlan<T>{make_present_kernel<T>(), {}};
      Look found = look_at(graph);
      graph.keep_sample(std::move(found.sample));
      KernelPlan<T> kernels = plan_kernels<T>(found.choice, fits, options.expected.solves);
      // What may turn out not to be wanted is held as long as the engine lives: some three times
      // what it takes at least.
      if (kernels.later.early) {
        const std::size_t at_least = find_spmv_kernel(later_kernel).extra_bytes(matrix, sizeof(T));
        kernels.later.early =
            is_little(bytes_with(find_spmv_kernel(modest_kernel)) - held + 3 * at_least, most_held);
      }
      return kernels;
    };
    const auto prepare_graph = [&] {
      prepared = std::make_unique<PreparedGraph<T>>(
          make_graph, plan, bytes_with(find_spmv_kernel(modest_kernel)) - held, most_held, options);
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

  /// kernel_, whatever that is when it is called.
  template <class T>
  [[nodiscard]] MakeSpmv<T> make_present_kernel() {
    return [this](const DeviceGraph<T>& of, cudaStream_t in) { return kernel_->make<T>(of, in); };
  }

  /// `fits(kernel)`: as far as is known before it is prepared.
  template <class T, class Fits>
  [[nodiscard]] KernelPlan<T> plan_kernels(const KernelChoice& choice, const Fits& fits,
                                           std::uint32_t solves) {
    const MakeSpmv<T> make_modest = make_present_kernel<T>();
    const SpmvKernel& chosen = find_spmv_kernel(choice.doubtful() ? later_kernel : choice.kernel);
    if (&chosen == kernel_ || !fits(chosen)) return {make_modest, {}};
    const MakeSpmv<T> make_chosen = [&chosen](const DeviceGraph<T>& of, cudaStream_t in) {
      return or_none([&] { return chosen.make<T>(of, in); });
    };
    const auto taken = [this, &chosen] { kernel_ = &chosen; };
    if (choice.doubtful()) {
      return {make_modest,
              {.payback = choice.payback,
               .beside = choice.beside,
               .solves = solves,
               .early = choice.early,
               .make = make_chosen,
               .taken = taken}};
    }
    const auto make_either = [=](const DeviceGraph<T>& of, cudaStream_t in) {
      std::unique_ptr<Spmv<T>> spmv = make_chosen(of, in);
      if (!spmv) return make_modest(of, in);
      taken();
      return spmv;
    };
    return {make_either, {}};
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

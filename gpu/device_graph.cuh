#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <type_traits>

#include "core/transition_matrix.hpp"
#include "gpu/csr_view.cuh"
#include "gpu/device_buffer.cuh"
#include "gpu/device_matrix.cuh"
#include "gpu/hold_point.hpp"
#include "gpu/link_arrivals.hpp"
#include "gpu/matrix_sampler.hpp"
#include "gpu/pagerank.hpp"
#include "gpu/row_sample.hpp"
#include "gpu/transfer_ring.cuh"

namespace pagerank::gpu {

/// values[k] = inverse_out_weight[column_indices[k]]: the elements of B that an unweighted graph
/// does without.
template <class T>
void spread_inverse_out_weight(const NodeId* column_indices, EdgeIndex links,
                               const double* inverse_out_weight, T* values, cudaStream_t stream);

/// out_weight[i] = 1 / inverse_out_weight[order[i]], 0 where that is 0 (order null: of node i).
template <class T>
void out_weights(const double* inverse_out_weight, const NodeId* order, std::uint64_t nodes,
                 T* out_weight, cudaStream_t stream);

/// A transition matrix in device memory, as TransitionMatrix describes it, its values in T.
/// Kernels take it as it is or make a layout of their own from it. The links of a large graph
/// arrive while others already work with the rest: what needs them waits for them, or works on
/// those that are there (as_links_arrive()).
template <class T>
class DeviceGraph {
 public:
  /// `ring` is used until wait() has returned, `matrix` until then and by sampler().
  DeviceGraph(const TransitionMatrix& matrix, TransferRing& ring,
              EdgeIndex stretch = EngineOptions{}.upload_stretch, const GraphMemory& memory = {});

  /// Of a matrix that is there already.
  explicit DeviceGraph(std::shared_ptr<const DeviceTransitionMatrix> matrix,
                       const GraphMemory& memory = {});
  DeviceGraph(const DeviceGraph&) = delete;
  DeviceGraph& operator=(const DeviceGraph&) = delete;

  /// What the constructors will allocate.
  [[nodiscard]] static std::size_t bytes(const TransitionMatrix& matrix) {
    return (std::size_t{matrix.node_count()} + 1) * sizeof(EdgeIndex) +
           matrix.link_count() * (sizeof(NodeId) + (matrix.weighted() ? sizeof(double) : 0)) +
           matrix.node_count() * sizeof(double) + value_bytes(matrix);
  }
  [[nodiscard]] static std::size_t bytes(const DeviceTransitionMatrix& matrix) {
    return value_bytes(matrix);
  }

  /// What held_device_bytes may become by whoever prepares a kernel.
  [[nodiscard]] std::size_t most_held() const { return memory_.most_held; }
  /// For arrays that PreparedGraph::bytes() counts, and for the thread that makes the graph alone:
  /// it has no lock. None of them is given back before all are.
  [[nodiscard]] const std::optional<ScratchMemory>& reserved() const { return memory_.reserved; }

  [[nodiscard]] std::uint64_t node_count() const { return matrix_->node_count(); }
  [[nodiscard]] EdgeIndex link_count() const { return matrix_->link_count(); }
  [[nodiscard]] NodeId more_unlinked() const { return matrix_->more_unlinked; }

  /// Whether in_links() has values.
  [[nodiscard]] bool has_values() const { return in_link_values() != nullptr; }

  /// The in-links with values in T: what an iteration multiplies with.
  [[nodiscard]] CsrView<T> in_links() const { return view(in_link_values()); }

  /// The same, of which columns and values may still be on their way: for who needs no more than
  /// the rows for now.
  [[nodiscard]] CsrView<T> arriving_in_links() const { return view_arriving(in_link_values()); }
  /// With values in double: what certifies the result.
  [[nodiscard]] CsrView<double> arriving_exact_in_links() const {
    return view_arriving(exact_values());
  }
  /// Until all is there.
  void wait() const {
    if (uploaded_.valid()) uploaded_.get();
  }

  /// Gives an unweighted graph the values array that it does without: what in_links() then
  /// multiplies is B itself. For benchmarks of kernels that read values.
  void store_values(cudaStream_t stream) {
    DeviceBuffer<T> values(link_count());
    spread_inverse_out_weight(view<T>(nullptr).column_indices, link_count(), inverse_out_weight(),
                              values.data(), stream);
    if constexpr (std::is_same_v<T, double>) {
      stored_values_ = std::move(values);
    } else {
      values_ = std::move(values);
    }
  }

  /// The sources of the links, one a link: there before their values are.
  [[nodiscard]] const NodeId* columns() const {
    if (columns_arrived_) columns_arrived_->wait_for_all();
    return matrix_->column_indices.data();
  }

  /// Calls use(links, begin, end) for stretches of the links, in their order until all have been,
  /// as soon as those are there; `links` has all of them, of which others may be on their way.
  template <class Use>
  void as_links_arrive(const Use& use) const {
    const CsrView<T> links = view_arriving(in_link_values());
    if (!arrivals_) {
      use(links, EdgeIndex{0}, link_count());
    } else {
      for (std::size_t s = 0; s < arrivals_->stretches(); ++s) {
        arrivals_->wait(s);
        // What is left when all are there would run beside the first iterations.
        if (hold_ != nullptr && arrivals_->complete()) hold_->pass();
        use(links, arrivals_->begin(s), arrivals_->end(s));
      }
    }
    wait();  // the ring is free, too
    if (hold_ != nullptr) hold_->pass();
  }

  /// Whether links are, or were, on their way when the constructor returned.
  [[nodiscard]] bool links_arrive() const { return arrivals_ != nullptr; }

  /// Whoever calls as_links_arrive() from now on waits there as soon as all links have arrived, at
  /// its end at the latest. Null: nobody.
  void hold_at_arrival(HoldPoint* point) { hold_ = point; }

  /// Looks at the matrix wherever it is cheap: for the links of one that is uploaded, on the host,
  /// where it must still be.
  [[nodiscard]] const MatrixSampler& sampler() const { return *sampler_; }

  /// Some of the rows, as sample_rows() takes them of sampler(), or of which they are kept.
  [[nodiscard]] RowSample row_sample() const { return sample_ ? *sample_ : sample_rows(*sampler_); }
  void keep_sample(std::optional<RowSample> sample) { sample_ = std::move(sample); }

  /// For whoever prepares a kernel; sampler() may use it.
  [[nodiscard]] ExchangeMemory& exchange_memory() const { return exchange_memory_; }

  /// Whether a copy would wait behind those of the upload.
  [[nodiscard]] bool is_uploading() const {
    using namespace std::chrono_literals;
    return uploaded_.valid() && uploaded_.wait_for(0s) != std::future_status::ready;
  }

  [[nodiscard]] std::vector<EdgeIndex> download_row_offsets() const {
    return matrix_->row_offsets.download();
  }

  [[nodiscard]] const EdgeIndex* row_offsets() const { return matrix_->row_offsets.data(); }
  [[nodiscard]] const double* inverse_out_weight() const {
    return matrix_->inverse_out_weight.data();
  }

 private:
  template <class Matrix>
  [[nodiscard]] static std::size_t value_bytes(const Matrix& matrix) {
    return matrix.weighted() && !std::is_same_v<T, double> ? matrix.link_count() * sizeof(T) : 0;
  }
  [[nodiscard]] const double* exact_values() const {
    return stored_values_.size() > 0 ? stored_values_.data() : matrix_->values.data();
  }
  [[nodiscard]] const T* in_link_values() const {
    if constexpr (std::is_same_v<T, double>) {
      return exact_values();
    } else {
      return values_.data();
    }
  }
  template <class Value>
  [[nodiscard]] CsrView<Value> view_arriving(const Value* values) const {
    return {node_count(), link_count(), row_offsets(), matrix_->column_indices.data(), values};
  }
  template <class Value>
  [[nodiscard]] CsrView<Value> view(const Value* values) const {
    wait();
    return view_arriving(values);
  }

  GraphMemory memory_;
  std::shared_ptr<const DeviceTransitionMatrix> matrix_;
  mutable ExchangeMemory exchange_memory_;
  std::unique_ptr<MatrixSampler> sampler_;
  std::optional<RowSample> sample_;
  DeviceBuffer<double> stored_values_;             ///< See store_values().
  DeviceBuffer<T> values_;                         ///< Where T is not double.
  std::unique_ptr<LinkArrivals> arrivals_;         ///< Null: all are there.
  std::unique_ptr<LinkArrivals> columns_arrived_;  ///< Likewise, columns alone.
  HoldPoint* hold_ = nullptr;
  std::shared_future<void> uploaded_;  ///< The thread that uploads; it uses what is above.
};

extern template class DeviceGraph<float>;
extern template class DeviceGraph<double>;

}  // namespace pagerank::gpu

#include "gpu/node_arrays.cuh"

#include <array>
#include <bit>
#include <limits>
#include <span>
#include <utility>

#include "gpu/csr_view.cuh"
#include "gpu/cuda_handles.cuh"

namespace pagerank::gpu {
namespace {

constexpr unsigned block_size = 256;

/// The out-weights, which are whole (see TransitionMatrix), of their inverse: in the low bits of
/// what is rounded to a whole number by adding 2^52, and so is nothing of infinity.
void whole_out_weights(std::span<const double> inverse, std::uint32_t* out_weight) {
  for (std::size_t i = 0; i < inverse.size(); ++i) {
    out_weight[i] =
        static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(1 / inverse[i] + 0x1p52));
  }
}

__global__ void widen_offsets(const std::uint32_t* from, std::uint64_t count, EdgeIndex* to) {
  const std::uint64_t i = global_thread_index();
  if (i < count) to[i] = from[i];
}

__global__ void invert_whole(const std::uint32_t* out_weight, std::uint64_t count,
                             double* inverse) {
  const std::uint64_t i = global_thread_index();
  if (i < count) inverse[i] = out_weight[i] == 0 ? 0.0 : 1 / static_cast<double>(out_weight[i]);
}

void queue_inversion(const std::uint32_t* out_weight, DeviceTransitionMatrix& uploaded,
                     cudaStream_t stream) {
  DeviceBuffer<double>& inverse = uploaded.inverse_out_weight;
  invert_whole<<<blocks_for(inverse.size(), block_size), block_size, 0, stream>>>(
      out_weight, inverse.size(), inverse.data());
  PAGERANK_CUDA_LAUNCHED(invert_whole);
}

void queue_widening(const std::uint32_t* offsets, DeviceTransitionMatrix& uploaded,
                    cudaStream_t stream) {
  DeviceBuffer<EdgeIndex>& wide = uploaded.row_offsets;
  widen_offsets<<<blocks_for(wide.size(), block_size), block_size, 0, stream>>>(
      offsets, wide.size(), wide.data());
  PAGERANK_CUDA_LAUNCHED(widen_offsets);
}

static_assert(sizeof(NodeId) == sizeof(std::uint32_t));

/// Numbers of 32 bits suffice, and are as many as there are links, times `times`, at most.
bool fit_beneath_links(const TransitionMatrix& matrix, EdgeIndex times) {
  return matrix.link_count() <= std::numeric_limits<std::uint32_t>::max() &&
         matrix.link_count() >= times * matrix.in_links.row_offsets.size();
}

}  // namespace

void upload_node_arrays(const TransitionMatrix& matrix, DeviceTransitionMatrix& uploaded,
                        TransferRing& ring) {
  const std::span inverse(matrix.inverse_out_weight);
  const std::span offsets(matrix.in_links.row_offsets);
  if (!fit_beneath_links(matrix, 1)) {
    ring.copy(inverse, uploaded.inverse_out_weight.data());
    ring.copy(offsets, uploaded.row_offsets.data());
    return;
  }
  std::uint32_t* const narrow = uploaded.column_indices.data();
  const Stream stream;
  ring.copy(inverse, narrow, {}, whole_out_weights);
  queue_inversion(narrow, uploaded, stream);
  stream.wait();
  ring.copy(offsets, narrow);
  queue_widening(narrow, uploaded, stream);
  stream.wait();
}

bool NodeArraysBesideLinks::can_travel(const TransitionMatrix& matrix, const TransferRing& ring) {
  return fit_beneath_links(matrix, 4) &&
         ring.worth_it(matrix.in_links.row_offsets.size() * sizeof(std::uint32_t));
}

NodeArraysBesideLinks::NodeArraysBesideLinks(const TransitionMatrix& matrix,
                                             DeviceTransitionMatrix& uploaded)
    : matrix_(matrix),
      uploaded_(uploaded),
      place_(matrix.link_count() - 2 * matrix.in_links.row_offsets.size()),
      there_(matrix.inverse_out_weight.size() + matrix.in_links.row_offsets.size(),
             matrix.link_count()) {}

void NodeArraysBesideLinks::send(TransferRing& ring, TransferRing::Shipment columns) {
  const std::span inverse(matrix_.inverse_out_weight);
  const std::span offsets(matrix_.in_links.row_offsets);
  std::uint32_t* const narrow = uploaded_.column_indices.data() + place_;
  const auto arrived = [this](EdgeIndex begin, EdgeIndex end) { there_.arrived(begin, end); };
  const auto arrived_behind = [=, before = inverse.size()](EdgeIndex begin, EdgeIndex end) {
    arrived(before + begin, before + end);
  };
  columns.first_to_wait = place_ / (columns.buffer_bytes / sizeof(NodeId));
  columns.failed = [this](const std::exception_ptr& error) { failed(error); };
  columns.wait = [widened = widened_.get_future().share()] { widened.get(); };
  const std::size_t piece = columns.buffer_bytes;
  const std::array shipments{
      ring.shipment<std::uint32_t>(inverse, narrow, arrived, whole_out_weights, piece),
      ring.shipment<std::uint32_t>(offsets, narrow + inverse.size(), arrived_behind, {}, piece),
      std::move(columns)};
  ring.send(shipments);
}

void NodeArraysBesideLinks::widen() {
  try {
    there_.wait_for_all();
    const std::uint32_t* const narrow = uploaded_.column_indices.data() + place_;
    const Stream stream;
    queue_inversion(narrow, uploaded_, stream);
    queue_widening(narrow + uploaded_.inverse_out_weight.size(), uploaded_, stream);
    stream.wait();
  } catch (...) {
    widened_.set_exception(std::current_exception());
    throw;
  }
  widened_.set_value();
}

}  // namespace pagerank::gpu

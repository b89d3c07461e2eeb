#pragma once

#include <exception>
#include <future>

#include "core/transition_matrix.hpp"
#include "gpu/device_matrix.cuh"
#include "gpu/link_arrivals.hpp"
#include "gpu/transfer_ring.cuh"

namespace pagerank::gpu {

// What a graph has of each node, inverse out-weights and row offsets, travels in 32 bits a number
// where they suffice: the device makes of them what the host has, bit for bit.

/// Uploads both, before the links, in whose place they may arrive.
void upload_node_arrays(const TransitionMatrix& matrix, DeviceTransitionMatrix& uploaded,
                        TransferRing& ring);

/// Both on their way beside the links: the host takes longer for each of their bytes than for those
/// of the links, which the bus is free for meanwhile. They arrive where the last links will be, so
/// that those wait until they have been widened.
class NodeArraysBesideLinks {
 public:
  /// Whether the ring takes them, and half of the links and more need not wait.
  [[nodiscard]] static bool can_travel(const TransitionMatrix& matrix, const TransferRing& ring);

  /// Both matrices outlive this.
  NodeArraysBesideLinks(const TransitionMatrix& matrix, DeviceTransitionMatrix& uploaded);

  /// Sends them and the columns.
  void send(TransferRing& ring, TransferRing::Shipment columns);
  /// They will not come.
  void failed(const std::exception_ptr& error) { there_.failed(error); }

  /// By another thread than send(): waits for them and puts them in their places. Throws why they
  /// will never be there.
  void widen();

 private:
  const TransitionMatrix& matrix_;
  DeviceTransitionMatrix& uploaded_;
  EdgeIndex place_;  ///< Of the link where they begin.
  LinkArrivals there_;
  std::promise<void> widened_;
};

}  // namespace pagerank::gpu

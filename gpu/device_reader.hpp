#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/edge_list.hpp"
#include "core/labelled_links.hpp"
#include "core/transition_matrix.hpp"
#include "gpu/entry_source.hpp"

namespace pagerank::gpu {

struct DeviceTransitionMatrix;

/// A TransitionMatrix in the memory of a GPU. Move-only.
class DeviceMatrix {
 public:
  explicit DeviceMatrix(std::unique_ptr<DeviceTransitionMatrix> arrays);
  DeviceMatrix(DeviceMatrix&&) noexcept;
  DeviceMatrix& operator=(DeviceMatrix&&) noexcept;
  ~DeviceMatrix();

  [[nodiscard]] NodeId node_count() const;
  [[nodiscard]] EdgeIndex link_count() const;
  [[nodiscard]] EdgeIndex distinct_links() const;  ///< As in TransitionMatrix.
  [[nodiscard]] std::uint64_t dangling_count() const;
  [[nodiscard]] bool weighted() const;

  /// The same matrix in main memory. Throws CudaError.
  [[nodiscard]] TransitionMatrix download() const;

  /// For an Engine, which takes them over; nothing can be asked after that.
  [[nodiscard]] std::unique_ptr<DeviceTransitionMatrix> take_arrays();

 private:
  std::unique_ptr<DeviceTransitionMatrix> arrays_;
};

struct DeviceReaderOptions {
  int device = 0;
  int threads = 0;               ///< That read the text, of the host; 0: as many as OpenMP offers.
  std::size_t memory_limit = 0;  ///< Bytes of device memory; 0: what is free.
};

/// Reads a graph as text on a GPU, in two steps that a caller may time: bytes travel as they are
/// and are parsed and checked there; the host never holds the entries. Errors, to the message, are
/// those that the source's own reader would end with.
class DeviceReader {
 public:
  /// Threads begin to read at once: whatever comes before read() goes on beside that. The source
  /// outlives this. Throws NotCompiled, std::bad_alloc, and std::system_error if there are no
  /// threads at all.
  DeviceReader(EntrySource& source, const DeviceReaderOptions& options);
  ~DeviceReader();
  DeviceReader(const DeviceReader&) = delete;
  DeviceReader& operator=(const DeviceReader&) = delete;

  /// Step one, once: creates the context of the device, if there is none, parses all of the text
  /// and numbers the nodes, if they have labels. Throws NoDevice, OutOfMemory and CudaError, and
  /// what EntrySource::close() and require_nodes() throw.
  void read();

  /// After read():
  [[nodiscard]] std::uint64_t entry_count() const;
  /// Of read(), until the device was there to take text; blocks of it were read beside that.
  [[nodiscard]] double context_seconds() const;
  /// Of read(), from when there was a parser until it had parsed all text: text was on its way to
  /// the device then.
  [[nodiscard]] double stream_seconds() const;
  [[nodiscard]] EdgeList download_edges(SourceIndex source_index) const;  ///< Throws CudaError.
  [[nodiscard]] NodeLabels take_labels();                                 ///< Once.

  /// Step two, once: the same bits as TransitionMatrixBuilder's. Throws OutOfMemory and CudaError.
  [[nodiscard]] DeviceMatrix build(SourceIndex source_index);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pagerank::gpu

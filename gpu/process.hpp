#pragma once

#include <cstddef>

namespace pagerank::gpu {

/// For programs that have the GPU once and briefly: has the driver make one way to it for all
/// streams rather than eight, which takes a quarter of the time off that a context takes to create
/// (docs/notebook/reading.md). Call it before CUDA is used and before other threads run. Who sets
/// CUDA_DEVICE_MAX_CONNECTIONS is obeyed.
void prefer_short_start();

/// Frees what the engines of this process that are gone left for the next: page-locked memory (up
/// to 4 MiB a thread, of 12 at most) and threads.
void release_kept_memory();

/// Engines made from now on lay graphs out as on a GPU whose blocks can have no more than so many
/// bytes of shared memory (0, as at first: what the device has). Every GPU has 48 KiB; at least 8,
/// and of less than 17, in double 25, the kernel "blocked" refuses graphs. For tests: what other
/// GPUs take can be tried on any, and small graphs in many windows.
void limit_shared_memory(std::size_t bytes_of_block);
[[nodiscard]] std::size_t shared_memory_limit();

/// What a device may fail to do at any time.
enum class Failure {
  allocation,  ///< Of its memory.
  upload,      ///< Of a buffer of the ring that arrays of 1 MiB and more go through.
  loop         ///< Making the graph of an iteration's kernels that loops on the device.
};
/// The nth of those from now on fails, counted from 1, and so many (1 at least) in a row; 0, as at
/// first: none does. (Who asks for memory may ask again for less: one failure is not always an
/// end.) For tests.
void fail_at(Failure what, std::size_t nth, std::size_t in_a_row = 1);
/// Whether the first of them is still to come.
[[nodiscard]] bool failure_is_to_come(Failure what);
/// Asked by who is about to do it, each time: whether it fails.
[[nodiscard]] bool fails_now(Failure what);

/// Of the two streams that the layout of "blocked" is made in.
enum class LayoutStream { none, first, beside };
/// Layouts made from now on have that stream some milliseconds late each time that both go on from
/// where one waited for the other, and where the last scratch memory has been given back; none, as
/// at first. For tests: which of them is ahead must make no difference.
void delay(LayoutStream which);
[[nodiscard]] LayoutStream delayed_stream();

}  // namespace pagerank::gpu

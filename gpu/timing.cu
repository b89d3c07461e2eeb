#include "gpu/timing.cuh"

#include <algorithm>

namespace pagerank::gpu {
namespace {

/// The runs queued back to back, an event between each two: the device does not wait for the host
/// as long as a run takes longer than queueing one.
std::vector<double> time_runs(const Stream& stream, std::size_t runs,
                              const std::function<void()>& queue) {
  std::vector<Event> events(runs + 1);
  events[0].record(stream);
  for (std::size_t run = 0; run < runs; ++run) {
    queue();
    events[run + 1].record(stream);
  }
  stream.wait();
  std::vector<double> seconds(runs);
  for (std::size_t run = 0; run < runs; ++run) {
    seconds[run] = events[run + 1].seconds_since(events[run]);
  }
  return seconds;
}

}  // namespace

std::vector<double> time_on_device(const Stream& stream, const TimingOptions& options,
                                   const std::function<void()>& queue) {
  const double warm = time_runs(stream, 2, queue).back();
  const auto fitting = static_cast<std::size_t>(options.seconds / std::max(warm, 1e-7));
  return time_runs(
      stream, std::clamp<std::size_t>(fitting, options.least_samples, options.most_samples), queue);
}

}  // namespace pagerank::gpu

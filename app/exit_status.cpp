#include "app/exit_status.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <system_error>

#include "app/options.hpp"
#include "core/pagerank.hpp"
#include "gpu/pagerank.hpp"
#include "io/input_error.hpp"

namespace pagerank::app {
namespace {

template <class... Errors>
bool is_one_of(const std::exception& error) {
  return ((dynamic_cast<const Errors*>(&error) != nullptr) || ...);
}

bool is_lack_of_threads(const std::exception& error) {
  const auto* const of_system = dynamic_cast<const std::system_error*>(&error);
  return of_system != nullptr && of_system->code() == std::errc::resource_unavailable_try_again;
}

}  // namespace

ExitStatus status_of(const std::exception& error) {
  if (is_one_of<UsageError>(error)) return ExitStatus::bad_usage;
  if (is_one_of<io::InputError, DanglingNodesError>(error)) return ExitStatus::bad_input;
  if (is_one_of<OutOfMemory, std::bad_alloc, gpu::NotCompiled, gpu::NoDevice, gpu::KernelRefused>(
          error) ||
      is_lack_of_threads(error)) {
    return ExitStatus::unable;
  }
  return ExitStatus::failed;
}

std::string message_of(const std::exception& error) {
  return is_one_of<std::bad_alloc>(error) ? "not enough memory" : error.what();
}

ExitStatus worse(ExitStatus a, ExitStatus b) {
  constexpr std::array from_best = {ExitStatus::converged, ExitStatus::not_converged,
                                    ExitStatus::bad_input, ExitStatus::bad_usage,
                                    ExitStatus::unable,    ExitStatus::failed};
  return std::max(std::find(from_best.begin(), from_best.end(), a),
                  std::find(from_best.begin(), from_best.end(), b))[0];
}

}  // namespace pagerank::app

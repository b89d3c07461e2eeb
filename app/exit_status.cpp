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

/// No thread, no descriptor of a file, no memory to be had.
bool is_lack_of_system(const std::exception& error) {
  const auto* const of_system = dynamic_cast<const std::system_error*>(&error);
  if (of_system == nullptr) return false;
  constexpr std::array lacks = {
      std::errc::resource_unavailable_try_again, std::errc::too_many_files_open,
      std::errc::too_many_files_open_in_system, std::errc::not_enough_memory};
  return std::any_of(lacks.begin(), lacks.end(),
                     [&](std::errc lack) { return of_system->code() == lack; });
}

}  // namespace

ExitStatus status_of(const std::exception& error) {
  if (is_one_of<UsageError>(error)) return ExitStatus::bad_usage;
  if (is_one_of<io::InputError, DanglingNodesError>(error)) return ExitStatus::bad_input;
  if (is_one_of<OutOfMemory, std::bad_alloc, gpu::NotCompiled, gpu::NoDevice, gpu::KernelRefused>(
          error) ||
      is_lack_of_system(error)) {
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

#pragma once

#include <exception>
#include <string>

namespace pagerank::app {

/// What the program returns to its caller.
enum class ExitStatus {
  converged = 0,
  failed = 1,         ///< Anything the others do not name: a result that cannot be written, a bug.
  bad_usage = 2,      ///< Options that make no sense.
  bad_input = 3,      ///< A graph that cannot be read or ranked as asked.
  not_converged = 4,  ///< Ranked and written, but the error bound is above the tolerance.
  unable = 5          ///< The machine cannot do it: no such GPU, not enough memory or threads.
};

/// The status that an exception caught in main stands for.
[[nodiscard]] ExitStatus status_of(const std::exception& error);

/// What it is called: what() says nothing to people where memory is lacking.
[[nodiscard]] std::string message_of(const std::exception& error);

/// Of two graphs of a batch, the status to exit with. From best to worst: converged, not converged,
/// bad input, bad usage (that only the graph showed), unable, failed.
[[nodiscard]] ExitStatus worse(ExitStatus a, ExitStatus b);

}  // namespace pagerank::app

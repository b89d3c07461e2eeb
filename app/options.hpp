#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/edge_list.hpp"
#include "core/pagerank.hpp"
#include "io/graph_format.hpp"
#include "io/score_writer.hpp"

namespace pagerank::app {

/// Options that make no sense. The message is for the user.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class EngineChoice { automatic, gpu, cpu };
/// Who turns the text of a graph into links.
enum class ReaderChoice { automatic, host, device };
enum class ProgressChoice { automatic, always, never };

/// What the command line asks for, checked and with the defaults filled in.
struct Options {
  enum class Action { rank, help, version, list_kernels, list_devices };
  Action action = Action::rank;

  std::vector<std::string> graphs;              ///< Paths; "-" is standard input.
  std::optional<io::GraphFormat> input_format;  ///< Unset: what each file says.
  SourceIndex source = SourceIndex::row;
  bool source_is_given = false;  ///< By --source or --assignment.
  bool assignment = false;
  bool cache = false;     ///< Graphs that are read are cached, cached ones not read.
  std::string cache_dir;  ///< Where; empty: beside each graph.

  Problem problem;

  EngineChoice engine = EngineChoice::automatic;
  ReaderChoice reader = ReaderChoice::automatic;
  int device = 0;
  std::size_t gpu_memory = 0;  ///< Bytes of it that may be taken; 0: what is free.
  int threads = 0;             ///< 0: all.
  std::string kernel = "auto";
  std::optional<Precision> precision;  ///< Unset: what suits engine, kernel and graph.
  double tolerance = 1e-8;
  std::uint32_t max_iterations = 1000;

  std::size_t top = 10;
  std::string output;      ///< A file, or empty.
  std::string output_dir;  ///< A directory, or empty.
  std::optional<io::ScoreFormat> format;
  std::string report;  ///< A file, or empty.
  ProgressChoice progress = ProgressChoice::automatic;
  bool quiet = false;
  bool verbose = false;

  /// The file that the scores of `graph` go to; empty for none.
  [[nodiscard]] std::string output_path(const std::string& graph) const;
  /// The format of that file.
  [[nodiscard]] io::ScoreFormat output_format() const;
};

/// Throws UsageError.
[[nodiscard]] Options parse_options(int argc, const char* const* argv);

[[nodiscard]] std::string help_text();

[[nodiscard]] const char* name_of(EngineChoice engine);
[[nodiscard]] const char* name_of(ReaderChoice reader);
[[nodiscard]] const char* name_of(io::GraphFormat format);
[[nodiscard]] const char* name_of(SourceIndex source);
[[nodiscard]] const char* name_of(Precision precision);
[[nodiscard]] const char* name_of(DanglingPolicy policy);

}  // namespace pagerank::app

#include "io/report.hpp"

#include <nlohmann/json.hpp>

namespace pagerank::io {
namespace {

nlohmann::ordered_json text_or_null(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
}

}  // namespace

void write_report(std::ostream& out, const Report& report) {
  using Json = nlohmann::ordered_json;
  const Report::Graph& graph = report.graph;
  const Report::Options& options = report.options;
  const Report::Seconds& seconds = report.seconds;
  const Json json = {
      {"schema_version", 1},
      {"graph",
       {{"path", graph.path},
        {"format", graph.format},
        {"nodes", graph.nodes},
        {"smallest_node", graph.smallest_node},
        {"largest_node", graph.largest_node},
        {"entries", graph.entries},
        {"links", graph.links},
        {"dangling", graph.dangling},
        {"weighted", graph.weighted},
        {"symmetric", graph.symmetric},
        {"source", graph.source},
        {"cache", text_or_null(graph.cache)}}},
      {"options",
       {{"alpha", options.alpha},
        {"dangling", options.dangling},
        {"assignment", options.assignment},
        {"source", options.source},
        {"engine", options.engine},
        {"reader", options.reader},
        {"device", options.device},
        {"gpu_memory", options.gpu_memory},
        {"kernel", text_or_null(options.kernel)},
        {"precision", options.precision},
        {"threads", options.threads},
        {"tolerance", options.tolerance},
        {"max_iterations", options.max_iterations}}},
      {"reader", text_or_null(report.reader)},
      {"engine", report.engine},
      {"device", report.device},
      {"kernel", text_or_null(report.kernel)},
      {"precision", report.precision},
      {"iterations", report.iterations},
      {"converged", report.converged},
      {"error_bound", report.error_bound},
      {"certified_depth", report.certified_depth},
      {"residual_history", report.residual_history},
      {"seconds",
       {{"read", seconds.read},
        {"context", seconds.context},
        {"stream", seconds.stream},
        {"build", seconds.build},
        {"cache", seconds.cache},
        {"upload", seconds.upload},
        {"solve", seconds.solve},
        {"rank", seconds.rank},
        {"write", seconds.write},
        {"total", seconds.total}}},
      {"version", report.version},
  };
  // Paths are bytes; JSON is UTF-8: replace what is not.
  out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace pagerank::io

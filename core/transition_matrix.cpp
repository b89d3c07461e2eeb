#include "core/transition_matrix.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <span>
#include <stdexcept>
#include <string>

#include "core/parallel.hpp"
#include "core/transition_builder.hpp"

namespace pagerank {
namespace {

/// Whether holds(element) for all elements of the array.
template <class T, class Predicate>
bool all_of(const Array<T>& array, int threads, Predicate holds) {
  constexpr std::size_t piece = std::size_t{1} << 18;
  std::atomic<bool> all = true;
  parallel_for((array.size() + piece - 1) / piece, threads, [&](std::size_t p) {
    const T* const data = array.data();
    if (!std::all_of(data + p * piece, data + std::min((p + 1) * piece, array.size()), holds)) {
      all = false;
    }
  });
  return all;
}

void require_valid(const EdgeList& edges, int threads) {
  const auto require = [](bool holds, const char* rule) {
    if (!holds) throw std::invalid_argument(std::string("edge list: ") + rule);
  };
  require(edges.node_count <= max_node_count, "too many nodes");
  require(edges.sources.size() == edges.targets.size(), "sources and targets differ in length");
  require(edges.weights.empty() || edges.weights.size() == edges.sources.size(),
          "weights and sources differ in length");
  const auto in_range = [n = edges.node_count](NodeId node) { return node < n; };
  require(all_of(edges.sources, threads, in_range) && all_of(edges.targets, threads, in_range),
          "node id out of range");
  require(all_of(edges.weights, threads, [](double w) { return w >= 0 && std::isfinite(w); }),
          "weight negative or not finite");
}

}  // namespace

TransitionMatrix make_transition_matrix(EdgeList edges, int threads) {
  threads = thread_count(threads);
  require_valid(edges, threads);
  TransitionMatrixBuilder builder({.node_count = edges.node_count,
                                   .weighted = edges.weighted(),
                                   .undirected = edges.undirected,
                                   .expected_entries = edges.entry_count()});
  constexpr std::size_t piece = std::size_t{1} << 17;
  const std::size_t entries = edges.entry_count();
  parallel_for((entries + piece - 1) / piece, threads, [&](std::size_t p) {
    const std::size_t begin = p * piece, size = std::min(piece, entries - begin);
    builder.add(p, std::span(edges.sources).subspan(begin, size),
                std::span(edges.targets).subspan(begin, size),
                std::span(edges.weights)
                    .subspan(edges.weighted() ? begin : 0, edges.weighted() ? size : 0));
  });
  edges = {};
  return builder.build(threads);
}

}  // namespace pagerank

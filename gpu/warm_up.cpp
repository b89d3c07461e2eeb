#include "gpu/warm_up.hpp"

#include "core/transition_matrix.hpp"
#include "gpu/pagerank.hpp"

namespace pagerank::gpu {

void warm_up(int device) {
  // More than one window of `blocked`, rows without links and a few longer than a list.
  constexpr NodeId nodes = 1 << 17, hubs = 16, links_of_hub = 1000;
  EdgeList edges;
  edges.node_count = nodes;
  for (NodeId node = 0; node < nodes; ++node) {
    edges.add_entry(SourceIndex::row, node, node * 2 % nodes);
    edges.add_entry(SourceIndex::row, node, (node * 10 + 2) % nodes);
  }
  for (NodeId link = 0; link < hubs * links_of_hub; ++link) {
    edges.add_entry(SourceIndex::row, link * 7 % nodes, link % hubs * 2);
  }
  const TransitionMatrix matrix = make_transition_matrix(std::move(edges), 1);
  for (const char* const kernel : {"blocked", "balanced"}) {
    for (const Precision precision : {Precision::mixed, Precision::float32}) {
      Engine engine(matrix,
                    {.device = device, .kernel = kernel, .precision = precision, .threads = 1});
      // Mixed: as far as corrections.
      (void)engine.solve({}, {.tolerance = precision == Precision::mixed ? 1e-9 : 1e-6});
    }
  }
}

}  // namespace pagerank::gpu

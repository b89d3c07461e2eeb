#include "core/reference.hpp"

#include <cmath>

namespace pagerank {
namespace {

struct Link {
  NodeId source;
  NodeId target;
  long double weight;
};

std::vector<Link> directed_links(const EdgeList& edges) {
  std::vector<Link> links;
  for (EdgeIndex e = 0; e < edges.entry_count(); ++e) {
    const long double weight = edges.weighted() ? edges.weights[e] : 1.0L;
    links.push_back({edges.sources[e], edges.targets[e], weight});
    if (edges.undirected && edges.sources[e] != edges.targets[e]) {
      links.push_back({edges.targets[e], edges.sources[e], weight});
    }
  }
  return links;
}

}  // namespace

std::vector<double> reference_pagerank(const EdgeList& edges, double alpha) {
  const NodeId n = edges.node_count;
  const std::vector<Link> links = directed_links(edges);
  std::vector<long double> out_weight(n, 0), x(n, 1.0L / n), next(n);
  for (const Link& link : links) out_weight[link.source] += link.weight;
  std::vector<long double> share;  // of a source's rank that goes over a link
  share.reserve(links.size());
  for (const Link& link : links) {
    share.push_back(link.weight > 0 ? alpha * link.weight / out_weight[link.source] : 0);
  }
  // Each iteration shrinks the error by alpha or more, and alpha^(40 / (1 - alpha)) <= e^-40.
  const int iterations = static_cast<int>(std::ceil(40 / (1 - alpha)));
  for (int k = 0; k < iterations; ++k) {
    long double dangling_mass = 0;
    for (NodeId i = 0; i < n; ++i) dangling_mass += out_weight[i] > 0 ? 0 : x[i];
    next.assign(n, (alpha * dangling_mass + (1 - alpha)) / n);
    for (std::size_t l = 0; l < links.size(); ++l) {
      next[links[l].target] += share[l] * x[links[l].source];
    }
    x.swap(next);
  }
  return {x.begin(), x.end()};
}

}  // namespace pagerank

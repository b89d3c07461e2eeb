#include "io/graph_reader.hpp"

#include <numeric>

namespace pagerank::io {

GraphReader::GraphReader(ByteSource& source, GraphFormat format, const ReadOptions& options)
    : threads_(options.threads), pieces_(source.size().value_or(0) / options.block_bytes) {
  if (format == GraphFormat::matrix_market) {
    matrix_market_.emplace(source, options);
  } else {
    edge_list_.emplace(source, options);
  }
}

bool GraphReader::weighted() const {
  return matrix_market_ ? matrix_market_->shape().weighted : edge_list_->weighted();
}

bool GraphReader::symmetric() const {
  return matrix_market_ && matrix_market_->header().symmetric;
}

std::uint64_t GraphReader::expected_bytes() const {
  const std::uint64_t weight = weighted() ? sizeof(double) : 0;
  if (edge_list_) return edge_list_->expected_links() * (8 + weight);
  if (hardly_linked()) return matrix_market_->shape().expected_entries * (8 + weight);
  const TransitionMatrixBuilder::Shape shape = matrix_market_->shape();
  return shape.expected_entries * (symmetric() ? 2 : 1) * (6 + weight) +
         pieces_ * TransitionMatrixBuilder::bytes_of_piece_table(shape);
}

void GraphReader::read(SourceIndex source_index) {
  if (matrix_market_) {
    entries_ = matrix_market_->header().entries;
    if (hardly_linked()) {
      matrix_market_->read_into(links_, source_index);
      links_.number_nodes(threads_);
      return;
    }
    builder_.emplace(matrix_market_->believed_shape());
    matrix_market_->read_into(*builder_, source_index);
  } else {
    edge_list_->read_into(links_, source_index);
    entries_ = links_.link_count();
  }
}

NodeId GraphReader::node_count() const {
  if (hardly_linked()) return links_.node_count() + 1;
  return matrix_market_ ? matrix_market_->shape().node_count : links_.node_count();
}

EdgeIndex GraphReader::link_count() const {
  return builder_ ? builder_->link_count() : entries_ * (symmetric() ? 2 : 1);
}

NodeLabels GraphReader::take_labels() {
  NodeLabels labels = links_.take_labels();
  if (hardly_linked() && labels.empty()) {
    labels.resize(links_.node_count());
    std::iota(labels.begin(), labels.end(), std::uint64_t{1});
  }
  return labels;
}

TransitionMatrix GraphReader::build() {
  return std::get<TransitionMatrix>(build_for({.layout = CpuLayout::plain, .sizes = {}}));
}

std::variant<TransitionMatrix, BlockedMatrix> GraphReader::build_for(const LayoutWish& wish) {
  if (!builder_) {
    builder_.emplace(TransitionMatrixBuilder::Shape{.node_count = node_count(),
                                                    .weighted = weighted(),
                                                    .undirected = symmetric(),
                                                    .expected_entries = entries_});
    links_.move_into(*builder_, threads_);
  }
  auto built = builder_->build_for(wish, threads_);
  if (hardly_linked()) {
    const auto nodes = static_cast<NodeId>(matrix_market_->header().node_count);
    std::visit([&](auto& matrix) { matrix.more_unlinked = nodes - matrix.node_count(); }, built);
  }
  return built;
}

LabelledEdgeList read_graph(ByteSource& source, GraphFormat format, SourceIndex source_index,
                            const ReadOptions& options) {
  if (format == GraphFormat::edge_list) return read_edge_list(source, source_index, options);
  return {read_matrix_market(source, source_index, options).edges, {}};
}

}  // namespace pagerank::io

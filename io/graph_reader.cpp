#include "io/graph_reader.hpp"

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
  const TransitionMatrixBuilder::Shape shape = matrix_market_->shape();
  return shape.expected_entries * (symmetric() ? 2 : 1) * (6 + weight) +
         pieces_ * TransitionMatrixBuilder::bytes_of_piece_table(shape);
}

void GraphReader::read(SourceIndex source_index) {
  if (matrix_market_) {
    builder_.emplace(matrix_market_->shape());
    matrix_market_->read_into(*builder_, source_index);
    entries_ = matrix_market_->header().entries;
  } else {
    edge_list_->read_into(links_, source_index);
    entries_ = links_.link_count();
  }
}

NodeId GraphReader::node_count() const {
  return matrix_market_ ? matrix_market_->shape().node_count : links_.node_count();
}

EdgeIndex GraphReader::link_count() const {
  return matrix_market_ ? builder_->link_count() : entries_;
}

TransitionMatrix GraphReader::build() {
  if (edge_list_) {
    builder_.emplace(TransitionMatrixBuilder::Shape{
        .node_count = node_count(), .weighted = weighted(), .expected_entries = entries_});
    links_.move_into(*builder_, threads_);
  }
  return builder_->build(threads_);
}

LabelledEdgeList read_graph(ByteSource& source, GraphFormat format, SourceIndex source_index,
                            const ReadOptions& options) {
  if (format == GraphFormat::edge_list) return read_edge_list(source, source_index, options);
  return {read_matrix_market(source, source_index, options).edges, {}};
}

}  // namespace pagerank::io

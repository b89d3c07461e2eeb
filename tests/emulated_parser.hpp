#pragma once

#include <deque>
#include <limits>
#include <string>
#include <vector>

#include "core/edge_list.hpp"
#include "gpu/entry_reader.hpp"
#include "gpu/text_tiles.hpp"
#include "io/edge_list_reader.hpp"

namespace pagerank::tests {

/// What the GPU does with a chunk of text, tile by tile and thread by thread with the same code for
/// each, on the host: for machines without a GPU, and for sanitizers.
class EmulatedParser : public gpu::ChunkParser {
 public:
  /// Unless it `knows` lines they are all left to the source.
  EmulatedParser(const gpu::EntryTextShape& shape, SourceIndex source_index, bool knows = true)
      : shape_(shape), by_row_(source_index == SourceIndex::row), knows_(knows) {}

  [[nodiscard]] std::size_t most_chunks() const override { return 2; }
  [[nodiscard]] std::size_t most_blocks() const override { return 3; }

  void submit(std::span<const std::string_view> texts) override {
    std::string text;
    for (const std::string_view part : texts) text += part;
    const auto bytes = static_cast<std::uint32_t>(text.size());
    text.append(gpu::tile_bytes + gpu::text_padding, '7');  // looks like a number if it is read
    Parsed parsed;
    for (std::uint32_t tile = 0; tile < bytes; tile += gpu::tile_bytes) {
      parse_tile(text.data(), tile, bytes, parsed);
    }
    submitted_ += parsed.entries;
    chunks_.push_back(std::move(parsed));
  }
  [[nodiscard]] Parsed finish_oldest() override {
    Parsed parsed = std::move(chunks_.front());
    chunks_.pop_front();
    return parsed;
  }
  [[nodiscard]] bool oldest_is_finished() override { return chunks_.size() > 1; }

  void insert(std::span<const Known> entries) override {
    for (const Known& known : entries) store(known.place, known.entry);
  }
  void require_room(std::uint64_t) const override {}

  /// All entries, where rows and columns are counted,
  [[nodiscard]] EdgeList take_edges() {
    EdgeList edges;
    edges.node_count = shape_.format.node_count;
    edges.undirected = shape_.symmetric;
    for (const std::uint64_t node : sources_) edges.sources.push_back(static_cast<NodeId>(node));
    for (const std::uint64_t node : targets_) edges.targets.push_back(static_cast<NodeId>(node));
    edges.weights = std::move(weights_);
    return edges;
  }
  /// and where they are labels: the host numbers the nodes.
  [[nodiscard]] io::LabelledEdgeList take_labelled_edges() {
    LabelledLinks links;
    links.add(0, sources_, targets_, weights_);
    links.number_nodes();
    return {links.take_edges(), links.take_labels()};
  }

 private:
  void parse_tile(const char* text, std::uint32_t tile, std::uint32_t bytes, Parsed& parsed) {
    for (unsigned thread = 0; thread < gpu::pieces_per_tile; ++thread) {
      const std::uint32_t piece = tile + thread * gpu::piece_bytes;
      const std::uint64_t lines = gpu::line_begins(text, piece, bytes);
      parsed.lines += static_cast<std::uint32_t>(__builtin_popcountll(lines));
      for (std::uint64_t rest = gpu::entry_begins(text + piece, lines, shape_.format); rest != 0;
           rest &= rest - 1) {
        const std::uint32_t begin = piece + static_cast<std::uint32_t>(lowest_bit(rest));
        gpu::ParsedEntry entry{};
        if (knows_ && gpu::parse_entry_line(text + begin, shape_.format, entry)) {
          store(submitted_ + parsed.entries, entry);
        } else {
          parsed.unknown.push_back({begin, parsed.entries});
          store(submitted_ + parsed.entries, {});
        }
        ++parsed.entries;
      }
    }
  }

  void store(std::uint64_t place, const gpu::ParsedEntry& entry) {
    const bool weighted = shape_.format.weights != gpu::EntryFormat::Weights::none;
    if (place >= sources_.size()) {
      sources_.resize(place + 1);
      targets_.resize(place + 1);
      weights_.resize(weighted ? place + 1 : 0);
    }
    sources_[place] = by_row_ ? entry.row : entry.column;
    targets_[place] = by_row_ ? entry.column : entry.row;
    if (weighted) weights_[place] = entry.weight;
  }

  gpu::EntryTextShape shape_;
  bool by_row_, knows_;
  Array<std::uint64_t> sources_, targets_;
  Array<double> weights_;
  std::deque<Parsed> chunks_;
  std::uint64_t submitted_ = 0;  ///< Entries.
};

}  // namespace pagerank::tests

#include "core/labelled_links.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/parallel.hpp"

namespace pagerank {

void require_node_count(std::uint64_t nodes, std::uint64_t most_nodes) {
  if (nodes > most_nodes) {
    throw std::length_error("more nodes than the " + std::to_string(most_nodes) +
                            " that can be held");
  }
}

namespace {

/// Which values of a range occur, and how many do before each.
class LabelBits {
 public:
  LabelBits(std::uint64_t least, std::uint64_t most)
      : least_(least), words_((most - least) / 64 + 1), begins_(words_.size()) {}

  /// Several threads may call it at once.
  void mark(std::uint64_t label) {
    const std::uint64_t offset = label - least_, bit = std::uint64_t{1} << offset % 64;
    std::atomic<std::uint64_t>& word = words_[offset / 64];
    // Most have been marked before: writing needs the cache line for this thread alone.
    if ((word.load(std::memory_order_relaxed) & bit) == 0) {
      word.fetch_or(bit, std::memory_order_relaxed);
    }
  }

  /// Call once when all are marked. Returns the labels that occur, ascending.
  NodeLabels count(int threads, std::uint64_t most_nodes) {
    constexpr std::size_t words_a_chunk = std::size_t{1} << 13;
    const std::size_t chunks = (words_.size() + words_a_chunk - 1) / words_a_chunk;
    const auto for_words = [&](std::size_t chunk, auto visit) {
      const std::size_t end = std::min((chunk + 1) * words_a_chunk, words_.size());
      for (std::size_t w = chunk * words_a_chunk; w < end; ++w) {
        visit(w, words_[w].load(std::memory_order_relaxed));
      }
    };
    std::vector<std::uint64_t> before(chunks, 0);
    parallel_for(chunks, threads, [&](std::size_t chunk) {
      std::uint64_t labels = 0;  // not counted in what threads share
      for_words(chunk, [&labels](std::size_t, std::uint64_t word) {
        labels += static_cast<std::uint64_t>(std::popcount(word));
      });
      before[chunk] = labels;
    });
    std::uint64_t nodes = 0;
    for (std::uint64_t& labels : before) nodes += std::exchange(labels, nodes);
    require_node_count(nodes, most_nodes);
    NodeLabels labels(nodes);
    parallel_for(chunks, threads, [&](std::size_t chunk) {
      std::uint64_t next = before[chunk];
      for_words(chunk, [&](std::size_t w, std::uint64_t word) {
        begins_[w] = static_cast<NodeId>(next);
        for (; word != 0; word &= word - 1) {
          labels[next++] = least_ + w * 64 + static_cast<unsigned>(std::countr_zero(word));
        }
      });
    });
    return labels;
  }

  /// After count(): how many labels there are before this one.
  [[nodiscard]] NodeId number(std::uint64_t label) const {
    const std::uint64_t offset = label - least_;
    const std::uint64_t word = words_[offset / 64].load(std::memory_order_relaxed);
    const std::uint64_t before = word & ((std::uint64_t{1} << offset % 64) - 1);
    return begins_[offset / 64] + static_cast<NodeId>(std::popcount(before));
  }

 private:
  std::uint64_t least_;
  std::vector<std::atomic<std::uint64_t>> words_;
  Array<NodeId> begins_;  ///< Labels before each word.
};

/// A bijection of 64-bit numbers that spreads them (the finalizer of A. Appleby's MurmurHash3),
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ x >> 33) * 0xff51afd7ed558ccd;
  x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53;
  return x ^ x >> 33;
}

/// and back: x ^ x >> 33 undoes itself, the factors are the inverses modulo 2^64.
std::uint64_t unmix(std::uint64_t x) {
  x = (x ^ x >> 33) * 0x9cb4b2f8129337db;
  x = (x ^ x >> 33) * 0x4f74430c22a54005;
  return x ^ x >> 33;
}

/// Some distinct labels, each with a place: 0, 1, ... in the order in which they came. Open
/// addressing with linear probing. Labels are given mixed.
class LabelTable {
 public:
  static constexpr int place_bits = 24;

  /// Asks for the memory that place_of() will look at first.
  void prefetch(std::uint64_t mixed) const { __builtin_prefetch(&slots_[mixed & mask()]); }

  /// The place of a label, which is a new one if it was not there.
  std::uint32_t place_of(std::uint64_t mixed) {
    std::size_t slot = mixed & mask();
    for (; slots_[slot].end != 0; slot = (slot + 1) & mask()) {
      if (slots_[slot].mixed == mixed) return slots_[slot].end - 1;
    }
    if (size_ >> place_bits != 0) throw std::length_error("more nodes than can be held");
    slots_[slot] = {mixed, ++size_};
    const std::uint32_t place = size_ - 1;
    if (std::size_t{size_} * 4 > slots_.size() * 3) grow();
    return place;
  }

  [[nodiscard]] std::size_t size() const { return size_; }

  /// Calls visit(mixed label, place) for each and forgets them.
  template <class Visit>
  void take(Visit visit) {
    for (const Slot& slot : slots_) {
      if (slot.end != 0) visit(slot.mixed, slot.end - 1);
    }
    slots_ = {};
  }

  std::mutex mutex;

 private:
  struct Slot {
    std::uint64_t mixed = 0;
    std::uint32_t end = 0;  ///< One more than the label's place; 0: free.
  };

  [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& moved : old) {
      if (moved.end == 0) continue;
      std::size_t slot = moved.mixed & mask();
      while (slots_[slot].end != 0) slot = (slot + 1) & mask();
      slots_[slot] = moved;
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(64);
  std::uint32_t size_ = 0;
};

constexpr std::size_t table_count = 256;
static_assert(table_count << LabelTable::place_bits == std::uint64_t{1} << 32);

std::size_t table_of(std::uint64_t mixed) {
  return mixed >> 56;
}

/// Elements that are sorted together.
struct LabelAndPlace {
  std::uint64_t label;
  std::uint32_t place;
};

/// Sorts by label: a counting sort a digit, from the lowest on, leaving out digits that all have in
/// common.
void sort_by_label(Array<LabelAndPlace>& elements, int threads) {
  constexpr int digit_bits = 11;
  constexpr std::size_t digits = std::size_t{1} << digit_bits;
  const std::size_t n = elements.size();
  const std::size_t chunks =
      std::min<std::size_t>(static_cast<std::size_t>(threads), n / (8 * digits) + 1);
  const auto for_chunk = [&](std::size_t chunk, auto visit) {
    const std::size_t end = n * (chunk + 1) / chunks;
    for (std::size_t i = n * chunk / chunks; i < end; ++i) visit(elements[i]);
  };
  std::uint64_t differing = 0;
  for (const LabelAndPlace& element : elements) differing |= element.label ^ elements[0].label;
  Array<LabelAndPlace> sorted(n);
  for (int shift = 0; shift < 64; shift += digit_bits) {
    if ((differing >> shift & (digits - 1)) == 0) continue;
    const auto digit = [shift](const LabelAndPlace& e) { return e.label >> shift & (digits - 1); };
    std::vector<std::vector<std::size_t>> next(chunks, std::vector<std::size_t>(digits, 0));
    parallel_for(chunks, threads, [&](std::size_t chunk) {
      for_chunk(chunk, [&](const LabelAndPlace& e) { ++next[chunk][digit(e)]; });
    });
    std::size_t begin = 0;
    for (std::size_t d = 0; d < digits; ++d) {
      for (auto& of_chunk : next) begin += std::exchange(of_chunk[d], begin);
    }
    parallel_for(chunks, threads, [&](std::size_t chunk) {
      for_chunk(chunk, [&](const LabelAndPlace& e) { sorted[next[chunk][digit(e)]++] = e; });
    });
    elements.swap(sorted);
  }
}

}  // namespace

void LabelledLinks::Ends::assign(std::span<const std::uint64_t> labels) {
  low.resize(labels.size());
  std::uint64_t any = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    low[i] = static_cast<std::uint32_t>(labels[i]);
    any |= labels[i];
  }
  if (any >> 32 == 0) return;
  high.resize(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    high[i] = static_cast<std::uint32_t>(labels[i] >> 32);
  }
}

void LabelledLinks::add(std::size_t piece, std::span<const std::uint64_t> sources,
                        std::span<const std::uint64_t> targets, std::span<const double> weights) {
  if (sources.empty()) return;  // comments, perhaps many of them
  Piece added;
  added.sources.assign(sources);
  added.targets.assign(targets);
  added.weights.assign(weights.begin(), weights.end());
  added.least = added.most = sources[0];
  for (const auto& labels : {sources, targets}) {
    for (const std::uint64_t label : labels) {
      added.least = std::min(added.least, label);
      added.most = std::max(added.most, label);
    }
  }
  const std::lock_guard lock(mutex_);
  if (pieces_.size() <= piece) pieces_.resize(piece + 1);
  pieces_[piece] = std::move(added);
}

EdgeIndex LabelledLinks::link_count() const {
  EdgeIndex links = 0;
  for (const Piece& piece : pieces_) links += piece.sources.low.size();
  return links;
}

void LabelledLinks::number_nodes(int threads, std::uint64_t most_nodes) {
  threads = thread_count(threads);
  const EdgeIndex links = link_count();
  if (links == 0) return;
  std::uint64_t least = UINT64_MAX, most = 0;
  for (const Piece& piece : pieces_) {
    if (piece.sources.low.empty()) continue;
    least = std::min(least, piece.least);
    most = std::max(most, piece.most);
  }
  // The bits and their counts take 3/16 of a byte a value of the range.
  constexpr std::uint64_t values_a_link = 16, always = std::uint64_t{1} << 23;
  if (most - least < links * values_a_link + always) {
    number_close_labels(least, most, threads, most_nodes);
  } else {
    number_any_labels(threads, most_nodes);
  }
}

void LabelledLinks::set_labels(NodeLabels labels) {
  node_count_ = static_cast<NodeId>(labels.size());
  const bool counted_from_one = labels.front() == 1 && labels.back() == labels.size();
  labels_ = counted_from_one ? NodeLabels() : std::move(labels);
}

void LabelledLinks::number_close_labels(std::uint64_t least, std::uint64_t most, int threads,
                                        std::uint64_t most_nodes) {
  LabelBits bits(least, most);
  parallel_for(pieces_.size(), threads, [&](std::size_t p) {
    for (const Ends* ends : {&pieces_[p].sources, &pieces_[p].targets}) {
      for (std::size_t i = 0; i < ends->low.size(); ++i) bits.mark(ends->label(i));
    }
  });
  NodeLabels labels = bits.count(threads, most_nodes);
  const bool all = labels.size() - 1 == most - least;
  parallel_for(pieces_.size(), threads, [&](std::size_t p) {
    for (Ends* ends : {&pieces_[p].sources, &pieces_[p].targets}) {
      for (std::size_t i = 0; i < ends->low.size(); ++i) {
        const std::uint64_t label = ends->label(i);
        ends->low[i] = all ? static_cast<NodeId>(label - least) : bits.number(label);
      }
      ends->high = {};
    }
  });
  set_labels(std::move(labels));
}

void LabelledLinks::number_any_labels(int threads, std::uint64_t most_nodes) {
  // Each label becomes the number of its table and its place there, in 32 bits.
  constexpr std::uint32_t place_mask = (std::uint32_t{1} << LabelTable::place_bits) - 1;
  std::vector<LabelTable> tables(table_count);
  parallel_for(pieces_.size(), threads, [&](std::size_t p) {
    Ends &sources = pieces_[p].sources, &targets = pieces_[p].targets;
    const std::size_t links = sources.low.size();
    Array<std::uint64_t> mixed(2 * links), sorted(2 * links);
    Array<std::uint32_t*> where(2 * links);  // the ends that `sorted` are of
    std::array<std::uint32_t, table_count + 1> begin{};
    for (std::size_t i = 0; i < 2 * links; ++i) {
      mixed[i] = mix(i < links ? sources.label(i) : targets.label(i - links));
      ++begin[table_of(mixed[i]) + 1];
    }
    for (std::size_t t = 0; t < table_count; ++t) begin[t + 1] += begin[t];
    std::array<std::uint32_t, table_count + 1> next = begin;
    for (std::size_t i = 0; i < 2 * links; ++i) {
      const std::uint32_t slot = next[table_of(mixed[i])]++;
      sorted[slot] = mixed[i];
      where[slot] = i < links ? &sources.low[i] : &targets.low[i - links];
    }
    constexpr std::uint32_t ahead = 16;
    for (std::size_t k = 0; k < table_count; ++k) {
      const std::size_t t = (k + p * 29) % table_count;  // threads begin at different ones
      const std::uint32_t end = begin[t + 1];
      if (begin[t] == end) continue;
      const std::lock_guard lock(tables[t].mutex);
      for (std::uint32_t i = begin[t]; i < std::min(begin[t] + ahead, end); ++i) {
        tables[t].prefetch(sorted[i]);
      }
      for (std::uint32_t i = begin[t]; i < end; ++i) {
        if (i + ahead < end) tables[t].prefetch(sorted[i + ahead]);
        *where[i] =
            static_cast<std::uint32_t>(t << LabelTable::place_bits | tables[t].place_of(sorted[i]));
      }
    }
    sources.high = {};
    targets.high = {};
  });

  std::array<std::uint64_t, table_count + 1> first{};  // of each table, in one row of all places
  for (std::size_t t = 0; t < table_count; ++t) first[t + 1] = first[t] + tables[t].size();
  const std::uint64_t nodes = first[table_count];
  require_node_count(nodes, most_nodes);
  Array<LabelAndPlace> sorted(nodes);
  parallel_for(table_count, threads, [&](std::size_t t) {
    tables[t].take([&](std::uint64_t mixed, std::uint32_t place) {
      const std::uint64_t in_row = first[t] + place;
      sorted[in_row] = {unmix(mixed), static_cast<std::uint32_t>(in_row)};
    });
  });
  sort_by_label(sorted, threads);
  NodeLabels labels(nodes);
  Array<NodeId> number(nodes);
  parallel_for_blocks(static_cast<NodeId>(nodes), threads,
                      [&](std::size_t, NodeId begin, NodeId end) {
                        for (NodeId node = begin; node < end; ++node) {
                          labels[node] = sorted[node].label;
                          number[sorted[node].place] = node;
                        }
                      });
  sorted = {};
  parallel_for(pieces_.size(), threads, [&](std::size_t p) {
    for (Ends* ends : {&pieces_[p].sources, &pieces_[p].targets}) {
      for (std::uint32_t& low : ends->low) {
        low = number[first[low >> LabelTable::place_bits] + (low & place_mask)];
      }
    }
  });
  set_labels(std::move(labels));
}

void LabelledLinks::move_into(TransitionMatrixBuilder& builder, int threads) {
  parallel_for(pieces_.size(), thread_count(threads), [&](std::size_t p) {
    const Piece piece = std::move(pieces_[p]);
    builder.add(p, piece.sources.low, piece.targets.low, piece.weights);
  });
  pieces_ = {};
}

EdgeList LabelledLinks::take_edges() {
  EdgeList edges;
  edges.node_count = node_count_;
  const EdgeIndex links = link_count();
  edges.sources.reserve(links);
  edges.targets.reserve(links);
  for (Piece& piece : pieces_) {
    const auto append = [](auto& to, auto& from) {
      to.insert(to.end(), from.begin(), from.end());
      from = {};
    };
    append(edges.sources, piece.sources.low);
    append(edges.targets, piece.targets.low);
    append(edges.weights, piece.weights);
  }
  pieces_ = {};
  return edges;
}

}  // namespace pagerank

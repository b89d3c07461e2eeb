#include "core/labelled_links.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <memory>
#include <random>
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

/// A label, in 12 bytes with a number beside it.
struct LabelAndNumber {
  std::uint32_t low, high, number;

  LabelAndNumber() = default;
  LabelAndNumber(std::uint64_t label, std::uint32_t with)
      : low(static_cast<std::uint32_t>(label)),
        high(static_cast<std::uint32_t>(label >> 32)),
        number(with) {}
  [[nodiscard]] std::uint64_t label() const { return low | std::uint64_t{high} << 32; }
};

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
    for (; slots_[slot].number != 0; slot = (slot + 1) & mask()) {
      if (slots_[slot].label() == mixed) return slots_[slot].number - 1;
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
    for (const LabelAndNumber& slot : slots_) {
      if (slot.number != 0) visit(slot.label(), slot.number - 1);
    }
    free_memory(slots_);
  }

  std::mutex mutex;

 private:
  [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }

  void grow() {
    PageArray<LabelAndNumber> old(slots_.size() * 2, free_slot);
    old.swap(slots_);
    for (const LabelAndNumber& moved : old) {
      if (moved.number == 0) continue;
      std::size_t slot = moved.label() & mask();
      while (slots_[slot].number != 0) slot = (slot + 1) & mask();
      slots_[slot] = moved;
    }
  }

  inline static const LabelAndNumber free_slot{0, 0};
  /// Mixed labels, each with one more than its place.
  PageArray<LabelAndNumber> slots_ = PageArray<LabelAndNumber>(64, free_slot);
  std::uint32_t size_ = 0;
};

constexpr std::size_t table_count = 256;
static_assert(table_count << LabelTable::place_bits == std::uint64_t{1} << 32);

std::size_t table_of(std::uint64_t mixed) {
  return mixed >> 56;
}

/// Sorts by label: a counting sort a digit, from the lowest on, leaving out digits that all have in
/// common.
void sort_by_label(Array<LabelAndNumber>& elements, int threads) {
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
  for (const LabelAndNumber& element : elements) {
    differing |= element.label() ^ elements[0].label();
  }
  Array<LabelAndNumber> sorted(n);
  for (int shift = 0; shift < 64; shift += digit_bits) {
    if ((differing >> shift & (digits - 1)) == 0) continue;
    const auto digit = [shift](const LabelAndNumber& e) {
      return e.label() >> shift & (digits - 1);
    };
    std::vector<std::vector<std::size_t>> next(chunks, std::vector<std::size_t>(digits, 0));
    parallel_for(chunks, threads, [&](std::size_t chunk) {
      for_chunk(chunk, [&](const LabelAndNumber& e) { ++next[chunk][digit(e)]; });
    });
    std::size_t begin = 0;
    for (std::size_t d = 0; d < digits; ++d) {
      for (auto& of_chunk : next) begin += std::exchange(of_chunk[d], begin);
    }
    parallel_for(chunks, threads, [&](std::size_t chunk) {
      for_chunk(chunk, [&](const LabelAndNumber& e) { sorted[next[chunk][digit(e)]++] = e; });
    });
    elements.swap(sorted);
  }
}

}  // namespace

/// The labels met so far. Each has a number of 32 bits: that of its table, and its place there.
class LabelledLinks::Tables {
 public:
  /// Numbers the labels, label_at(0) .. label_at(count - 1), and writes their numbers to
  /// *place_at(0) ... Several threads may call it at once; `piece` differs between them.
  template <class LabelAt, class PlaceAt>
  void number(std::size_t piece, std::size_t count, LabelAt label_at, PlaceAt place_at) {
    Array<std::uint64_t> mixed(count), sorted(count);
    Array<std::uint32_t*> where(count);  // the places of `sorted`
    std::array<std::uint32_t, table_count + 1> begin{};
    for (std::size_t i = 0; i < count; ++i) {
      mixed[i] = mix(label_at(i) ^ key_);
      ++begin[table_of(mixed[i]) + 1];
    }
    for (std::size_t t = 0; t < table_count; ++t) begin[t + 1] += begin[t];
    std::array<std::uint32_t, table_count + 1> next = begin;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t slot = next[table_of(mixed[i])]++;
      sorted[slot] = mixed[i];
      where[slot] = place_at(i);
    }
    constexpr std::uint32_t ahead = 16;
    for (std::size_t k = 0; k < table_count; ++k) {
      const std::size_t t = (k + piece * 29) % table_count;  // threads begin at different ones
      const std::uint32_t end = begin[t + 1];
      if (begin[t] == end) continue;
      LabelTable& table = tables_[t];
      const std::lock_guard lock(table.mutex);
      for (std::uint32_t i = begin[t]; i < std::min(begin[t] + ahead, end); ++i) {
        table.prefetch(sorted[i]);
      }
      for (std::uint32_t i = begin[t]; i < end; ++i) {
        if (i + ahead < end) table.prefetch(sorted[i + ahead]);
        *where[i] =
            static_cast<std::uint32_t>(t << LabelTable::place_bits | table.place_of(sorted[i]));
      }
    }
  }

  /// Once all have been met: how many come before each table's in one row of all.
  [[nodiscard]] std::array<std::uint64_t, table_count + 1> firsts() const {
    std::array<std::uint64_t, table_count + 1> first{};
    for (std::size_t t = 0; t < table_count; ++t) first[t + 1] = first[t] + tables_[t].size();
    return first;
  }

  /// All labels, ascending, each with its place in that row; forgets them.
  [[nodiscard]] Array<LabelAndNumber> take_sorted(
      const std::array<std::uint64_t, table_count + 1>& first, int threads) {
    Array<LabelAndNumber> sorted(first[table_count]);
    parallel_for(table_count, threads, [&](std::size_t t) {
      tables_[t].take([&](std::uint64_t mixed, std::uint32_t place) {
        const std::uint64_t in_row = first[t] + place;
        sorted[in_row] = {unmix(mixed) ^ key_, static_cast<std::uint32_t>(in_row)};
      });
    });
    sort_by_label(sorted, threads);
    return sorted;
  }

 private:
  [[nodiscard]] static std::uint64_t random_key() {
    std::random_device random;
    return std::uint64_t{random()} << 32 | random();
  }

  /// Nobody can name nodes so that they fall into one table, or slots side by side. What nodes are
  /// numbered does not depend on it.
  const std::uint64_t key_ = random_key();
  std::array<LabelTable, table_count> tables_;
};

LabelledLinks::LabelledLinks() = default;
LabelledLinks::~LabelledLinks() = default;

LabelledLinks::Tables& LabelledLinks::tables() {
  const std::lock_guard lock(mutex_);
  if (!tables_) tables_ = std::make_unique<Tables>();
  return *tables_;
}

void LabelledLinks::add(std::size_t piece, std::span<const std::uint64_t> sources,
                        std::span<const std::uint64_t> targets, std::span<const double> weights) {
  if (sources.empty()) return;  // comments, perhaps many of them
  const std::size_t links = sources.size();
  Piece added;
  added.least = added.most = sources[0];
  for (const auto& labels : {sources, targets}) {
    for (const std::uint64_t label : labels) {
      added.least = std::min(added.least, label);
      added.most = std::max(added.most, label);
    }
  }
  added.in_tables = (added.most - added.least) >> 32 != 0;
  added.sources.resize(links);
  added.targets.resize(links);
  added.weights.assign(weights.begin(), weights.end());
  if (added.in_tables) {
    tables().number(
        piece, 2 * links,
        [&](std::size_t i) { return i < links ? sources[i] : targets[i - links]; },
        [&](std::size_t i) { return i < links ? &added.sources[i] : &added.targets[i - links]; });
  } else {
    const auto distance = [least = added.least](std::uint64_t label) {
      return static_cast<std::uint32_t>(label - least);
    };
    std::transform(sources.begin(), sources.end(), added.sources.begin(), distance);
    std::transform(targets.begin(), targets.end(), added.targets.begin(), distance);
  }
  const std::lock_guard lock(mutex_);
  if (pieces_.size() <= piece) pieces_.resize(piece + 1);
  pieces_[piece] = std::move(added);
}

EdgeIndex LabelledLinks::link_count() const {
  EdgeIndex links = 0;
  for (const Piece& piece : pieces_) links += piece.sources.size();
  return links;
}

void LabelledLinks::number_nodes(int threads, std::uint64_t most_nodes) {
  threads = thread_count(threads);
  const EdgeIndex links = link_count();
  if (links == 0) return;
  std::uint64_t least = UINT64_MAX, most = 0;
  for (const Piece& piece : pieces_) {
    if (piece.sources.empty()) continue;
    least = std::min(least, piece.least);
    most = std::max(most, piece.most);
  }
  // The bits and their counts take 3/16 of a byte a value of the range.
  constexpr std::uint64_t values_a_link = 16, always = std::uint64_t{1} << 23;
  if (!tables_ && most - least < links * values_a_link + always) {
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

template <class Body>
void LabelledLinks::for_each_ends(int threads, Body body) {
  parallel_for(pieces_.size(), threads, [&](std::size_t p) {
    for (PageArray<std::uint32_t>* ends : {&pieces_[p].sources, &pieces_[p].targets}) {
      body(*ends, pieces_[p]);
    }
  });
}

void LabelledLinks::number_close_labels(std::uint64_t least, std::uint64_t most, int threads,
                                        std::uint64_t most_nodes) {
  LabelBits bits(least, most);
  for_each_ends(threads, [&](PageArray<std::uint32_t>& ends, const Piece& piece) {
    for (const std::uint32_t distance : ends) bits.mark(piece.least + distance);
  });
  NodeLabels labels = bits.count(threads, most_nodes);
  const bool all = labels.size() - 1 == most - least;
  for_each_ends(threads, [&](PageArray<std::uint32_t>& ends, const Piece& piece) {
    for (std::uint32_t& end : ends) {
      const std::uint64_t label = piece.least + end;
      end = all ? static_cast<NodeId>(label - least) : bits.number(label);
    }
  });
  set_labels(std::move(labels));
}

void LabelledLinks::number_any_labels(int threads, std::uint64_t most_nodes) {
  Tables& tables = this->tables();
  parallel_for(pieces_.size(), threads, [&](std::size_t p) {
    Piece& piece = pieces_[p];
    if (piece.in_tables) return;
    const std::size_t links = piece.sources.size();
    const auto end = [&](std::size_t i) {
      return i < links ? &piece.sources[i] : &piece.targets[i - links];
    };
    tables.number(
        p, 2 * links, [&](std::size_t i) { return piece.least + *end(i); }, end);
  });
  const auto first = tables.firsts();
  const std::uint64_t nodes = first[table_count];
  require_node_count(nodes, most_nodes);
  Array<LabelAndNumber> sorted = tables.take_sorted(first, threads);
  tables_.reset();
  NodeLabels labels(nodes);
  Array<NodeId> number(nodes);
  parallel_for_blocks(static_cast<NodeId>(nodes), threads,
                      [&](std::size_t, NodeId begin, NodeId end) {
                        for (NodeId node = begin; node < end; ++node) {
                          labels[node] = sorted[node].label();
                          number[sorted[node].number] = node;
                        }
                      });
  free_memory(sorted);
  constexpr std::uint32_t place_mask = (std::uint32_t{1} << LabelTable::place_bits) - 1;
  for_each_ends(threads, [&](PageArray<std::uint32_t>& ends, const Piece&) {
    for (std::uint32_t& end : ends) {
      end = number[first[end >> LabelTable::place_bits] + (end & place_mask)];
    }
  });
  set_labels(std::move(labels));
}

void LabelledLinks::move_into(TransitionMatrixBuilder& builder, int threads) {
  parallel_for(pieces_.size(), thread_count(threads), [&](std::size_t p) {
    const Piece piece = std::move(pieces_[p]);
    builder.add(p, piece.sources, piece.targets, piece.weights);
  });
  free_memory(pieces_);
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
      free_memory(from);
    };
    append(edges.sources, piece.sources);
    append(edges.targets, piece.targets);
    append(edges.weights, piece.weights);
  }
  free_memory(pieces_);
  return edges;
}

}  // namespace pagerank

#include "core/graph_generator.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>

#include "core/parallel.hpp"

namespace pagerank {
namespace {

__extension__ using Uint128 = unsigned __int128;

/// The high half of a * b: with a random in [0, 2^64), uniform in [0, b).
std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>((Uint128{a} * b) >> 64);
}

/// The finaliser of SplitMix64 (G. Steele, D. Lea, C. Flood: Fast Splittable Pseudorandom Number
/// Generators, OOPSLA 2014, after D. Stafford): a bijection of 64 bits that looks random.
std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

/// SplitMix64, begun anew for each entry of the graph.
class Random {
 public:
  Random(std::uint64_t seed, EdgeIndex entry) : state_(mix(mix(seed + golden) + entry)) {}
  std::uint64_t bits() { return mix(state_ += golden); }
  NodeId below(std::uint64_t n) { return static_cast<NodeId>(multiply_high(bits(), n)); }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

 private:
  static constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;
  std::uint64_t state_;
};

/// A bijection of [0, nodes), drawn with the seed.
class Scramble {
 public:
  Scramble(std::uint64_t nodes, std::uint64_t seed)
      : nodes_(nodes),
        bits_(static_cast<int>(std::bit_width(nodes - 1))),
        mask_((std::uint64_t{1} << bits_) - 1) {
    for (std::uint64_t i = 0; i < rounds_.size(); ++i) {
      rounds_[i] = {mix(seed + 2 * i) | 1, mix(seed + 2 * i + 1)};
    }
  }

  NodeId operator()(std::uint64_t node) const {
    // Each step is a bijection of [0, 2^bits); walking its cycle until a node comes makes it one of
    // [0, nodes).
    do {
      for (const Round& round : rounds_) {
        node = (node * round.odd + round.shift) & mask_;
        node ^= node >> ((bits_ + 1) / 2);
      }
    } while (node >= nodes_);
    return static_cast<NodeId>(node);
  }

 private:
  struct Round {
    std::uint64_t odd, shift;
  };
  std::uint64_t nodes_;
  int bits_;
  std::uint64_t mask_;
  std::array<Round, 3> rounds_{};
};

/// floor(2^e) in integers: libraries' pow() and exp2() differ in their last bits.
class PowerOfTwo {
 public:
  PowerOfTwo() {
    // root[i] = 2^(2^-i) with 62 fractional bits; a byte of the fraction selects the product of its
    // bits' roots.
    std::uint64_t root = std::uint64_t{2} << fraction_bits;
    for (auto& table : products_) {
      std::array<std::uint64_t, 8> roots{};
      for (int bit = 7; bit >= 0; --bit) {
        root = square_root(Uint128{root} << fraction_bits);
        roots[static_cast<std::size_t>(bit)] = root;
      }
      for (std::size_t byte = 0; byte < table.size(); ++byte) {
        table[byte] = std::uint64_t{1} << fraction_bits;
        for (std::size_t bit = 0; bit < 8; ++bit) {
          if ((byte >> bit & 1) != 0) table[byte] = multiply(table[byte], roots[bit]);
        }
      }
    }
  }

  /// `exponent` with 32 fractional bits, below 2^6.
  [[nodiscard]] std::uint64_t operator()(std::uint64_t exponent) const {
    std::uint64_t power = products_[0][exponent >> 24 & 0xFF];
    power = multiply(power, products_[1][exponent >> 16 & 0xFF]);
    power = multiply(power, products_[2][exponent >> 8 & 0xFF]);
    power = multiply(power, products_[3][exponent & 0xFF]);
    const auto whole = static_cast<int>(exponent >> 32);
    return whole <= fraction_bits ? power >> (fraction_bits - whole)
                                  : power << (whole - fraction_bits);
  }

 private:
  static constexpr int fraction_bits = 62;

  static std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
    return static_cast<std::uint64_t>((Uint128{a} * b) >> fraction_bits);
  }
  static std::uint64_t square_root(Uint128 square) {
    std::uint64_t root = 0;
    for (int bit = 63; bit >= 0; --bit) {
      const std::uint64_t next = root | (std::uint64_t{1} << bit);
      if (Uint128{next} * next <= square) root = next;
    }
    return root;
  }

  std::array<std::array<std::uint64_t, 256>, 4> products_{};
};

/// log2(n) with 32 fractional bits, rounded down: each squaring brings out one bit.
std::uint64_t log2_of(std::uint64_t n) {
  const auto whole = static_cast<int>(std::bit_width(n)) - 1;
  std::uint64_t mantissa = n << (63 - whole);  // in [1, 2) with 63 fractional bits
  auto log = static_cast<std::uint64_t>(whole);
  for (int bit = 0; bit < 32; ++bit) {
    const Uint128 square = (Uint128{mantissa} * mantissa) >> 63;
    const bool above_two = (square >> 64) != 0;
    log = log << 1 | (above_two ? 1 : 0);
    mantissa = static_cast<std::uint64_t>(above_two ? square >> 1 : square);
  }
  return log;
}

struct Link {
  NodeId source;
  NodeId target;
};

/// Draws the entries of one graph.
class LinkMaker {
 public:
  explicit LinkMaker(const GraphRecipe& recipe)
      : recipe_(recipe),
        n_(recipe.nodes),
        log2_n_(log2_of(recipe.nodes)),
        hub_of_rank_(recipe.nodes, mix(recipe.seed)),
        renumber_(recipe.nodes, mix(recipe.seed + 1)) {}

  [[nodiscard]] Link operator()(EdgeIndex entry) const {
    Link link = draw(entry);
    if (recipe_.scramble) link = {renumber_(link.source), renumber_(link.target)};
    return link;
  }

 private:
  [[nodiscard]] Link draw(EdgeIndex entry) const {
    Random random(recipe_.seed, entry);
    switch (recipe_.kind) {
      case GraphKind::rmat:
        return rmat(random);
      case GraphKind::uniform: {
        const NodeId source = random.below(n_);
        return {source, random.below(n_)};
      }
      case GraphKind::web:
        return web(random);
      case GraphKind::power_law: {
        const NodeId source = random.below(n_);
        return {source, hub(random)};
      }
      case GraphKind::citation: {
        const auto source =
            static_cast<NodeId>(std::min(n_ - 1, std::uint64_t{random.below(n_ - 1)} + 1));
        return {source, random.below(source)};
      }
      case GraphKind::preferential:
        return {growing_source(entry), preferred(entry)};
      case GraphKind::small_world: {
        const NodeId source = random.below(n_);
        if (random.one_in(10)) return {source, random.below(n_)};
        const std::uint64_t next =
            source + std::uint64_t{random.below(std::max<EdgeIndex>(recipe_.links / n_, 1))} + 1;
        return {source, static_cast<NodeId>(next % n_)};
      }
      case GraphKind::communities: {
        const NodeId source = random.below(n_);
        return {source, random.one_in(5) ? random.below(n_) : near(source, random)};
      }
      case GraphKind::traps: {
        const NodeId source = random.below(n_);
        const bool caught = source < n_ / 50 && !random.one_in(50);
        return {source, caught ? near(source, random) : random.below(n_)};
      }
      case GraphKind::diagonal:
        return {static_cast<NodeId>(entry), static_cast<NodeId>(entry)};
      case GraphKind::hub:
        break;
    }
    const auto node = static_cast<NodeId>(entry % n_);
    return {node, entry < n_ ? 0 : static_cast<NodeId>((node + std::uint64_t{1}) % n_)};
  }

  /// One quadrant of the adjacency matrix a level, by 32 random bits.
  [[nodiscard]] Link rmat(Random& random) const {
    constexpr auto share = [](std::uint64_t percent) { return (percent << 32) / 100; };
    constexpr std::uint64_t a = share(57), b = share(57 + 19), c = share(57 + 19 + 19);
    const auto levels = static_cast<int>(std::bit_width(n_)) - 1;
    std::uint64_t source = 0, target = 0, bits = 0;
    for (int level = 0; level < levels; ++level) {
      bits = level % 2 == 0 ? random.bits() : bits >> 32;
      const std::uint64_t draw = bits & 0xFFFF'FFFF;
      source = source << 1 | (draw >= b ? 1U : 0U);
      target =
          target << 1 | ((draw >= a ? 1U : 0U) ^ (draw >= b ? 1U : 0U) ^ (draw >= c ? 1U : 0U));
    }
    return {static_cast<NodeId>(source), static_cast<NodeId>(target)};
  }

  [[nodiscard]] Link web(Random& random) const {
    constexpr std::uint64_t near = (std::uint64_t{85} << 32) / 100;
    constexpr std::uint64_t log2_of_10000 = 57'070'290'108;  // 32 fractional bits, rounded down
    static_assert(log2_of_10000 >> 32 == 13);
    const NodeId source = random.below(n_);
    const std::uint64_t bits = random.bits();
    if ((bits & 0xFFFF'FFFF) >= near) return {source, hub(random)};
    const std::uint64_t distance = power_(multiply_high(random.bits(), log2_of_10000)) % n_;
    const bool forwards = (bits >> 63) != 0;
    return {source, static_cast<NodeId>((source + (forwards ? distance : n_ - distance)) % n_)};
  }

  /// Of preferential attachment, whose nodes come one after the other.
  [[nodiscard]] NodeId growing_source(EdgeIndex entry) const {
    const auto node = static_cast<std::uint64_t>(Uint128{entry} * (n_ - 1) / recipe_.links);
    return static_cast<NodeId>(std::min(n_ - 1, node + 1));
  }
  /// The end that an entry draws, which if it is a target was drawn in turn: retraced, for all
  /// entries to be made at once (P. Sanders, C. Schulz: Scalable Generation of Scale-free Graphs,
  /// Information Processing Letters 116, 2016).
  [[nodiscard]] NodeId preferred(EdgeIndex entry) const {
    while (entry > 0) {
      const std::uint64_t end = multiply_high(Random(recipe_.seed, entry).bits(), 2 * entry);
      entry = end / 2;
      if (end % 2 == 0) return growing_source(entry);
    }
    return 0;
  }

  /// In the group of a hundred.
  [[nodiscard]] NodeId near(NodeId node, Random& random) const {
    return static_cast<NodeId>((node / 100 * std::uint64_t{100} + random.below(100)) % n_);
  }

  /// Rank floor(n^u) - 1, hashed to a node.
  [[nodiscard]] NodeId hub(Random& random) const {
    return hub_of_rank_(power_(multiply_high(random.bits(), log2_n_)) - 1);
  }

  GraphRecipe recipe_;
  std::uint64_t n_;
  std::uint64_t log2_n_;
  Scramble hub_of_rank_, renumber_;
  PowerOfTwo power_;
};

/// Drawn apart from the links, which are the same with weights and without.
double weight_of(std::uint64_t seed, EdgeIndex entry) {
  return static_cast<double>(Random(~seed, entry).below(1000) + 1) / 1000;
}

EdgeIndex entries_of(const GraphRecipe& recipe) {
  switch (recipe.kind) {
    case GraphKind::diagonal:
      return recipe.nodes;
    case GraphKind::hub:
      return 2 * recipe.nodes;
    default:
      return recipe.links;
  }
}

}  // namespace

EdgeList generate_graph(const GraphRecipe& recipe, int threads) {
  if (recipe.nodes == 0 || recipe.nodes > max_node_count) {
    throw std::invalid_argument("a graph has 1 to " + std::to_string(max_node_count) + " nodes");
  }
  if (recipe.kind == GraphKind::rmat && !std::has_single_bit(recipe.nodes)) {
    throw std::invalid_argument("the number of nodes of an R-MAT graph is a power of two");
  }
  EdgeList edges;
  edges.node_count = static_cast<NodeId>(recipe.nodes);
  edges.undirected = recipe.symmetric;
  const EdgeIndex entries = entries_of(recipe);
  edges.sources.resize(entries);
  edges.targets.resize(entries);
  if (recipe.weighted) edges.weights.resize(entries);

  const LinkMaker make_link(recipe);
  constexpr EdgeIndex piece = EdgeIndex{1} << 16;
  parallel_for((entries + piece - 1) / piece, thread_count(threads), [&](std::size_t p) {
    for (EdgeIndex e = p * piece; e < std::min((p + 1) * piece, entries); ++e) {
      const Link link = make_link(e);
      edges.sources[e] = link.source;
      edges.targets[e] = link.target;
      if (recipe.weighted) edges.weights[e] = weight_of(recipe.seed, e);
    }
  });
  return edges;
}

}  // namespace pagerank

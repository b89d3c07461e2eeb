#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/array.hpp"
#include "core/types.hpp"

namespace pagerank {

/// What happens to the rank that arrives at a node without out-links.
/// (`uniform`, `self` and `drop` are to come.)
enum class DanglingPolicy {
  teleport,  ///< It follows the teleport vector: every column of G sums to 1.
  error      ///< Refused with DanglingNodesError: the classroom rule.
};

/// What to compute: x = alpha B x + (alpha * dangling mass + 1 - alpha) v, with v uniform.
/// (Other teleport and start vectors are to come.)
struct Problem {
  double alpha = 0.85;  ///< Damping factor, 0 <= alpha < 1.
  DanglingPolicy dangling = DanglingPolicy::teleport;
};

/// Where a running solve stands, after each iteration.
struct Progress {
  std::uint32_t iteration;  ///< From 1.
  double change;            ///< ||x_k - x_(k-1)||_1
  double error_bound;       ///< Of ||x_k - x*||_1, by the change and double's rounding.
};

struct SolveOptions {
  double tolerance = 1e-8;  ///< Bound of ||x - x*||_1 asked for, > 0.
  std::uint32_t max_iterations = 1000;
  /// Called from the solving thread for each iteration, a few (a GPU: up to 32) at a time.
  std::function<void(const Progress&)> observer;
  std::stop_token stop;  ///< A request ends the solve within a few iterations (a GPU: 32).
};

struct Solution {
  Array<double> scores;  ///< One a row of the matrix: a node, in the order of the node ids.
  std::uint32_t iterations = 0;

  /// The certificate below is within the tolerance.
  bool converged = false;

  /// ||scores - x*||_1 is at most this: ||G(x) - x||_1 / (1 - alpha), G applied once more in
  /// double precision after the last iteration, an allowance for rounding included.
  double error_bound = 0;

  /// ||x_k - x_(k-1)||_1 of every iteration k = 1 .. iterations.
  std::vector<double> changes;
};

/// A graph prepared for iterating: the constructor lays it out as the engine wants it, solve() may
/// then be called many times. How it is laid out never shows: scores are in node order.
class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;

  /// For one caller at a time. Throws std::invalid_argument for parameters out of range and
  /// DanglingNodesError.
  [[nodiscard]] virtual Solution solve(const Problem& problem, const SolveOptions& options) = 0;

  /// What computes, for people: "CPU, 8 threads", "NVIDIA H100 80GB HBM3".
  [[nodiscard]] virtual std::string device() const = 0;

  /// The kernel that iterates now, where there are several to choose from; else empty. A solve may
  /// change it.
  [[nodiscard]] virtual std::string_view kernel() const { return {}; }

  /// What one iteration must move at least: each array that it works on once.
  [[nodiscard]] virtual std::uint64_t bytes_per_iteration() const = 0;
};

/// DanglingPolicy::error was asked for and the graph has dangling nodes.
class DanglingNodesError : public std::runtime_error {
 public:
  DanglingNodesError(NodeId first, std::size_t count)
      : DanglingNodesError(first, count, std::uint64_t{first} + 1) {}

  /// `label`: what the first such node is called in the message.
  DanglingNodesError(NodeId first, std::size_t count, std::uint64_t label);

  [[nodiscard]] NodeId first() const { return first_; }
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  NodeId first_;
  std::size_t count_;
};

/// The graph does not fit into the memory of the machine or device that was to hold it.
class OutOfMemory : public std::runtime_error {
 public:
  /// `where`: "host" or the device's name. `needed` and `available` in bytes; of memory that is
  /// there in pieces too small, one byte less than needed is said to be available.
  OutOfMemory(const std::string& where, std::uint64_t needed, std::uint64_t available);
  /// For an allocation of unknown size inside a library; `what` names it.
  explicit OutOfMemory(const std::string& what) : std::runtime_error(what) {}

  /// Both 0 where they are unknown.
  [[nodiscard]] std::uint64_t needed() const { return needed_; }
  [[nodiscard]] std::uint64_t available() const { return available_; }

 private:
  std::uint64_t needed_ = 0, available_ = 0;
};

}  // namespace pagerank

#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace pagerank::io {

/// One kernel's result in a benchmark table.
struct BenchmarkRow {
  std::string kernel;
  bool values = false;  ///< Multiplies with stored values; false: every element is 1.

  /// Why there are no times: the kernel refused the graph, or its result was wrong. Empty if there
  /// are; otherwise nothing below means anything, and none of it is written.
  std::string refusal;

  double prepare_seconds = 0;  ///< From the graph's CSR arrays to ready; solve: with the upload.
  double median_seconds = 0;   ///< Of one multiplication, iteration or reduction.
  double min_seconds = 0;
  std::uint32_t samples = 0;
  std::uint64_t bytes = 0;  ///< That one must move at least: each array of its layout once.
  std::uint64_t flops = 0;  ///< Additions and multiplications of one.

  /// Of the result from the double reference; unset if it was not computed. SpMV and reductions:
  /// largest relative difference of an element; solve: L1 distance of the scores.
  std::optional<double> max_difference;

  bool on_host = false;                 ///< Not on `device`: its ceilings mean nothing here,
  double ceiling_bytes_per_second = 0;  ///< but this one, of the same run, if it is not 0.

  // Of solve only.
  std::string loop;  ///< Where the GPU's iterations are decided on: "device", "host" or empty.
  std::optional<std::uint32_t> iterations;
  std::optional<double> solve_seconds;  ///< Certificate and download included.
  std::optional<double> error_bound;

  std::optional<std::uint64_t> peak_bytes;  ///< Memory that it took at its peak; load and build.

  // Of load only.
  bool over_bus = false;  ///< Its bytes cross the bus to a GPU, which is their ceiling.
  std::optional<double> stream_seconds;   ///< Median, until all text is parsed; of a load.
  std::optional<double> context_seconds;  ///< Of creating the GPU's context, in none of the others.

  [[nodiscard]] double bytes_per_second() const {
    return static_cast<double>(bytes) / median_seconds;
  }
};

/// What one run measured on one graph (reductions: one vector).
struct BenchmarkTable {
  std::string benchmark;  ///< "spmv", "solve", "reduce", "load" or "build"
  std::string graph;      ///< As it was asked for: a path, or "rmat:22x16:seed=1".
  std::uint64_t nodes = 0;
  std::uint64_t links = 0;  ///< Elements; those of a reduction.
  std::string device;
  std::string precision;  ///< "float" or "double"
  std::string version;    ///< Of the program.

  /// The device's ceilings, measured in the same run; 0: not measured.
  /// Read and written bytes of a large copy; load: bytes read from the file, build: from memory.
  double copy_bytes_per_second = 0;
  double fma_flops_per_second = 0;  ///< Fused multiply-adds from registers, two flops each.
  double bus_bytes_per_second = 0;  ///< From page-locked memory to the device.

  std::vector<BenchmarkRow> rows;

  /// The median of the row that ratios are against: the faster of cuSPARSE's (solve: of those
  /// engines'; reduce: cuBLAS; load: counting lines). Unset without such a row.
  [[nodiscard]] std::optional<double> baseline_seconds() const;

  /// How many times faster than the baseline the row is.
  [[nodiscard]] std::optional<double> ratio_to_baseline(const BenchmarkRow& row) const;

  /// Share of copy_bytes_per_second, on the host of its own ceiling, that the row's declared bytes
  /// reach; over the bus of bus_bytes_per_second, while text travels.
  [[nodiscard]] std::optional<double> share_of_ceiling(const BenchmarkRow& row) const;

  /// Of solve: how many times as long an iteration takes as the least that it could move, at
  /// the rate of its ceiling: on the host 4 bytes a link, on a device 12 a node as well.
  [[nodiscard]] std::optional<double> ratio_to_floor(const BenchmarkRow& row) const;

  [[nodiscard]] double elements_per_second(const BenchmarkRow& row) const {
    return static_cast<double>(links) / row.median_seconds;
  }
};

/// One aligned table a benchmark, for people.
void write_benchmark_text(std::ostream& out, const BenchmarkTable& table);

/// All tables as one CSV with a header line; a row's refusal stands in its last column.
void write_benchmark_csv(std::ostream& out, const std::vector<BenchmarkTable>& tables);

/// {"schema_version": 1, "tables": [...]}, seconds and bytes as numbers, what is unset as null.
void write_benchmark_json(std::ostream& out, const std::vector<BenchmarkTable>& tables);

/// An SVG picture: for each table a bar chart of the medians and a roofline (S. Williams,
/// A. Waterman, D. Patterson: Roofline, CACM 52(4), 2009) of flops per second over flops per byte.
void write_benchmark_svg(std::ostream& out, const std::vector<BenchmarkTable>& tables);

}  // namespace pagerank::io

#pragma once

#include <string>

#include "app/bench/bench_options.hpp"
#include "core/edge_list.hpp"
#include "io/benchmark_report.hpp"

namespace pagerank::app::bench {

/// "load": times the way from a file, in the page cache, to the matrix, in turns with what bounds
/// it: reading the file's bytes with as many threads, and counting its lines with one. If there is
/// a cache of the file beside it, also from there. A file that is a graph cache is loaded as such.
void run_load(const BenchOptions& options, const std::string& path, io::BenchmarkTable& table);

/// "build": times the way from an edge list to the matrix, in turns with reading memory.
void run_build(const BenchOptions& options, const EdgeList& edges, io::BenchmarkTable& table);

}  // namespace pagerank::app::bench

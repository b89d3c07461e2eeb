#include <iostream>

#include "app/bench/bench_program.hpp"
#include "app/interruption.hpp"

int main(int argc, char** argv) {
  pagerank::app::stop_cleanly_when_interrupted("pagerank-bench");
  return static_cast<int>(pagerank::app::bench::run_bench(argc, argv, std::cout));
}

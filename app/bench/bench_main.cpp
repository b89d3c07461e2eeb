#include <iostream>

#include "app/bench/bench_program.hpp"

int main(int argc, char** argv) {
  return static_cast<int>(pagerank::app::bench::run_bench(argc, argv, std::cout));
}

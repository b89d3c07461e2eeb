#include <iostream>

#include "app/interruption.hpp"
#include "app/program.hpp"
#include "gpu/process.hpp"

int main(int argc, char** argv) {
  pagerank::gpu::prefer_short_start();
  pagerank::app::stop_cleanly_when_interrupted("pagerank");
  return static_cast<int>(pagerank::app::run_program(argc, argv, std::cout));
}

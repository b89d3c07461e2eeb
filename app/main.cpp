#include <iostream>

#include "app/program.hpp"

int main(int argc, char** argv) {
  return static_cast<int>(pagerank::app::run_program(argc, argv, std::cout));
}

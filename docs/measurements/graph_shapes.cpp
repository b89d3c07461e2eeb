// What the model of kernels' cost knows of generated graphs, a row each and per width of a value:
// the columns of kernel-cost-shapes.csv.
//
//   g++ -std=c++20 -O2 -fopenmp -I. docs/measurements/graph_shapes.cpp app/bench/graph_spec.cpp \
//       gpu/graph_shape.cpp gpu/row_sample.cpp gpu/matrix_sampler.cpp core/*.cpp -o graph_shapes
//   ./graph_shapes rmat:22x16:scramble web:22x16 ...
#include <cstdio>
#include <initializer_list>

#include "app/bench/graph_spec.hpp"
#include "core/graph_generator.hpp"
#include "core/transition_matrix.hpp"
#include "gpu/graph_shape.hpp"

int main(int argc, char** argv) {
  using namespace pagerank;
  std::puts(
      "graph,value_bytes,nodes,links,weighted,sectors_per_link,runs_per_link,isolated,mixing");
  for (int i = 1; i < argc; ++i) {
    const auto recipe = app::bench::parse_graph_spec(argv[i], {});
    if (!recipe) {
      std::fprintf(stderr, "%s: not a generated graph\n", argv[i]);
      return 2;
    }
    const TransitionMatrix matrix = make_transition_matrix(generate_graph(*recipe));
    for (const std::size_t width : {sizeof(float), sizeof(double)}) {
      const gpu::GraphShape shape = gpu::measure_shape(matrix, width);
      std::printf("%s,%zu,%llu,%llu,%d,%.6g,%.6g,%.6g,%.6g\n", argv[i], width,
                  static_cast<unsigned long long>(shape.nodes),
                  static_cast<unsigned long long>(shape.links), shape.weighted ? 1 : 0,
                  shape.sectors_per_link, shape.runs_per_link, shape.isolated, shape.mixing);
    }
  }
}

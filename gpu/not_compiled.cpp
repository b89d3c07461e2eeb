// The twin of the CUDA sources for builds without the toolkit: the same symbols, no devices.
#include "gpu/pagerank.hpp"

namespace pagerank::gpu {

class Engine::Impl {};

std::string unavailable_reason(int) {
  return NotCompiled().what();
}
void create_context(int, bool) noexcept {}
std::vector<Device> devices() {
  return {};
}
std::vector<Kernel> kernels() {
  return {};
}

Engine::Engine(const TransitionMatrix&, const EngineOptions&) {
  throw NotCompiled();
}
Engine::~Engine() = default;
Solution Engine::solve(const Problem&, const SolveOptions&) {
  throw NotCompiled();
}
std::string Engine::device() const {
  throw NotCompiled();
}
std::uint64_t Engine::bytes_per_iteration() const {
  throw NotCompiled();
}
std::string_view Engine::kernel() const {
  throw NotCompiled();
}
bool Engine::loops_on_device() const {
  throw NotCompiled();
}

}  // namespace pagerank::gpu

// The twin of the CUDA sources for builds without the toolkit: the same symbols, no devices.
#include "gpu/device_reader.hpp"
#include "gpu/page_lock.hpp"
#include "gpu/pagerank.hpp"
#include "gpu/process.hpp"

namespace pagerank::gpu {

class Engine::Impl {};

PageLock::PageLock(std::span<std::byte>, Need) {
  throw NotCompiled();
}
void PageLock::unlock() noexcept {}

std::string unavailable_reason(int) {
  return NotCompiled().what();
}
bool has_driver() {
  return false;
}
void create_context(int) noexcept {}
void release_kept_memory() {}
std::vector<Device> devices() {
  return {};
}
std::vector<Kernel> kernels() {
  return {};
}

Engine::Engine(const TransitionMatrix&, const EngineOptions&) {
  throw NotCompiled();
}
Engine::Engine(DeviceMatrix, const EngineOptions&) {
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

struct DeviceTransitionMatrix {};
class DeviceReader::Impl {};

DeviceMatrix::DeviceMatrix(std::unique_ptr<DeviceTransitionMatrix> arrays)
    : arrays_(std::move(arrays)) {}
DeviceMatrix::DeviceMatrix(DeviceMatrix&&) noexcept = default;
DeviceMatrix& DeviceMatrix::operator=(DeviceMatrix&&) noexcept = default;
DeviceMatrix::~DeviceMatrix() = default;
NodeId DeviceMatrix::node_count() const {
  throw NotCompiled();
}
EdgeIndex DeviceMatrix::link_count() const {
  throw NotCompiled();
}
EdgeIndex DeviceMatrix::distinct_links() const {
  throw NotCompiled();
}
std::uint64_t DeviceMatrix::dangling_count() const {
  throw NotCompiled();
}
bool DeviceMatrix::weighted() const {
  throw NotCompiled();
}
TransitionMatrix DeviceMatrix::download() const {
  throw NotCompiled();
}
std::unique_ptr<DeviceTransitionMatrix> DeviceMatrix::take_arrays() {
  throw NotCompiled();
}

DeviceReader::DeviceReader(EntrySource&, const DeviceReaderOptions&) {
  throw NotCompiled();
}
DeviceReader::~DeviceReader() = default;
void DeviceReader::read() {
  throw NotCompiled();
}
std::uint64_t DeviceReader::entry_count() const {
  throw NotCompiled();
}
double DeviceReader::context_seconds() const {
  throw NotCompiled();
}
double DeviceReader::stream_seconds() const {
  throw NotCompiled();
}
NodeLabels DeviceReader::take_labels() {
  throw NotCompiled();
}
EdgeList DeviceReader::download_edges(SourceIndex) const {
  throw NotCompiled();
}
DeviceMatrix DeviceReader::build(SourceIndex) {
  throw NotCompiled();
}

}  // namespace pagerank::gpu

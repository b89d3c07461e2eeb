// Notes when a program calls CUDA's driver, and how long each call takes: what a process spends on
// loading code, on memory and on waiting. Linux with glibc; CUDA's runtime, linked statically or
// not, finds the driver's functions by cuGetProcAddress().
//
//   g++ -std=c++20 -O2 -shared -fPIC driver_calls.cpp -o driver_calls.so
//   DRIVER_CALLS=calls.txt LD_PRELOAD=./driver_calls.so pagerank FILE ...
//   awk '{n[$4]++; t[$4] += $2} END {for (f in n) print t[f], n[f], f}' calls.txt | sort -rn
//
// A line a call, in the order in which they ended: milliseconds since the first one began, its own,
// the thread, and the function.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
// None of the driver's functions takes more, and all are integers or pointers.
using Function = long (*)(long, long, long, long, long, long, long, long, long, long, long, long);
using Find = int (*)(const char*, void**, int, unsigned long, void*);

struct Call {
  Clock::time_point begin, end;
  int thread;
  std::size_t function;
};

constexpr std::size_t most_functions = 1024, most_calls = 4'000'000;
std::array<Function, most_functions> functions;
// Never destroyed: the driver is called until the process ends.
std::array<std::string, most_functions>& names = *new std::array<std::string, most_functions>;
std::vector<Call>& calls = *new std::vector<Call>(most_calls);
std::atomic<std::size_t> function_count = 0, call_count = 0;
Find find = nullptr;

template <std::size_t index>
long timed(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k,
           long l) {
  const Clock::time_point begin = Clock::now();
  const long result = functions[index](a, b, c, d, e, f, g, h, i, j, k, l);
  const std::size_t call = call_count++;
  if (call < most_calls) calls[call] = {begin, Clock::now(), gettid(), index};
  return result;
}

template <std::size_t... indices>
constexpr std::array<Function, sizeof...(indices)> all_timed(
    std::index_sequence<indices...> /*each*/) {
  return {timed<indices>...};
}
constinit const std::array<Function, most_functions> wrappers =
    all_timed(std::make_index_sequence<most_functions>{});

int find_timed(const char* name, void** found, int version, unsigned long flags, void* status) {
  const int error = find(name, found, version, flags, status);
  const std::string called = name;
  if (error != 0 || *found == nullptr || called == "cuGetExportTable") return error;
  if (called == "cuGetProcAddress") {
    find = reinterpret_cast<Find>(*found);
    *found = reinterpret_cast<void*>(find_timed);
    return error;
  }
  const std::size_t index = function_count++;
  if (index >= most_functions) return error;
  functions[index] = reinterpret_cast<Function>(*found);
  names[index] = called;
  *found = reinterpret_cast<void*>(wrappers[index]);
  return error;
}

double milliseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

[[gnu::destructor]] void write_calls() {
  const char* const path = std::getenv("DRIVER_CALLS");
  std::FILE* const file = path == nullptr ? nullptr : std::fopen(path, "w");
  if (file == nullptr) return;
  const std::size_t count = std::min<std::size_t>(call_count, most_calls);
  for (std::size_t i = 0; i < count; ++i) {
    const Call& call = calls[i];
    std::fprintf(file, "%.3f %.4f %d %s\n", milliseconds(call.begin - calls[0].begin),
                 milliseconds(call.end - call.begin), call.thread, names[call.function].c_str());
  }
  std::fclose(file);
}

}  // namespace

// In the place of the C library's.
extern "C" void* dlsym(void* library, const char* name) noexcept {
  using Lookup = void* (*)(void*, const char*);
  static const auto lookup = reinterpret_cast<Lookup>(dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34"));
  void* const found = lookup == nullptr ? nullptr : lookup(library, name);
  if (found == nullptr || std::strcmp(name, "cuGetProcAddress_v2") != 0) return found;
  find = reinterpret_cast<Find>(found);
  return reinterpret_cast<void*>(find_timed);
}

#pragma once

#include <string>

namespace pagerank::gpu {

/// A shared library that few ask for, opened when they do: one that a program is linked with is
/// opened whenever that starts, and has to be there. It stays open until the program ends.
class SharedLibrary {
 public:
  /// `file`: its name, looked for as that of a library which is linked. Throws KernelRefused, with
  /// the reason, where it cannot be had.
  explicit SharedLibrary(const std::string& file);

  /// Sets a pointer to a function of it, of which the caller knows the type. Throws KernelRefused
  /// if there is none of that name.
  template <class Function>
  void find(Function*& function, const char* symbol) const {
    function = reinterpret_cast<Function*>(address_of(symbol));
  }

 private:
  [[nodiscard]] void* address_of(const char* symbol) const;

  std::string file_;
  void* handle_;
};

}  // namespace pagerank::gpu

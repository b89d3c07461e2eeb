#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace pagerank::io {

/// The bytes of a regular file, mapped into memory, read only. The system may bring in a page only
/// when it is touched: the file must not be written to or cut off while it is mapped (one that is
/// replaced by renaming another stays as it was). Touching what was cut off raises SIGBUS, which
/// ends a program that has no handler; pagerank's says which file it is (app/interruption.hpp).
class MappedFile {
 public:
  /// Throws as throw_not_opened() does if the file cannot be opened, InputError if it is not a
  /// regular one, std::bad_alloc if there are no addresses left for it.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

/// The path of the file that is mapped there; empty if none is, or if that is not known soon (it
/// waits for other threads that map files, but not long). Not for signal handlers.
[[nodiscard]] std::string path_of_mapped_file(const void* place);

}  // namespace pagerank::io

#include "io/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <new>

#include "io/input_error.hpp"

namespace pagerank::io {
namespace {

/// The files that are mapped, by where they begin.
struct Mappings {
  struct File {
    std::size_t bytes;
    std::string path;
  };
  std::timed_mutex mutex;
  std::map<const std::byte*, File, std::less<>> files;
};
Mappings& mappings() {
  static Mappings all;
  return all;
}

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  // Without O_NONBLOCK a pipe would wait for its writer before it could be refused.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) throw_not_opened(path, errno);
  struct stat status {};
  int error = fstat(descriptor, &status) == 0 ? 0 : errno;
  if (error == 0 && S_ISDIR(status.st_mode)) error = EISDIR;
  const bool regular = S_ISREG(status.st_mode);
  const auto size = static_cast<std::size_t>(status.st_size);
  if (error == 0 && regular && size > 0) {
    void* const place = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (place == MAP_FAILED) {
      error = errno;
    } else {
      bytes_ = {static_cast<const std::byte*>(place), size};
    }
  }
  close(descriptor);
  if (error == ENOMEM) throw std::bad_alloc();
  if (error != 0) throw InputError(path + ": " + std::strerror(error));
  if (!regular) throw InputError(path + ": not a regular file");
  if (bytes_.empty()) return;
  try {
    const std::lock_guard lock(mappings().mutex);
    mappings().files.insert_or_assign(bytes_.data(), Mappings::File{bytes_.size(), path});
  } catch (...) {
    munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
    throw;
  }
}

MappedFile::~MappedFile() {
  if (bytes_.empty()) return;
  const std::lock_guard lock(mappings().mutex);
  mappings().files.erase(bytes_.data());
  munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

std::string path_of_mapped_file(const void* place) {
  const std::unique_lock lock(mappings().mutex, std::chrono::milliseconds(100));
  if (!lock.owns_lock()) return {};
  const auto* const at = static_cast<const std::byte*>(place);
  auto file = mappings().files.upper_bound(at);
  if (file == mappings().files.begin()) return {};
  --file;
  return std::less<>()(at, file->first + file->second.bytes) ? file->second.path : std::string();
}

}  // namespace pagerank::io

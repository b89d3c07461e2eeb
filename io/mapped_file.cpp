#include "io/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "io/input_error.hpp"

namespace pagerank::io {

MappedFile::MappedFile(const std::string& path) {
  // Without O_NONBLOCK a pipe would wait for its writer before it could be refused.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) throw InputError(path + ": " + std::strerror(errno));
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
  if (error != 0) throw InputError(path + ": " + std::strerror(error));
  if (!regular) throw InputError(path + ": not a regular file");
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace pagerank::io

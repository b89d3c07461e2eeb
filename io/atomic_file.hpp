#pragma once

#include <fstream>
#include <stdexcept>
#include <string>

namespace pagerank::io {

/// A result could not be written. The message names the file.
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file that appears under its name only when it is whole: written under a temporary name in the
/// same directory, renamed by commit(). Without commit() nothing is left behind. Devices, pipes
/// and other things that exist and are not regular files, and names of descriptors (/dev/stdout),
/// are written directly.
class AtomicFile {
 public:
  /// Throws OutputError.
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  [[nodiscard]] std::ostream& stream() { return stream_; }
  /// Where it lies until it is committed.
  [[nodiscard]] const std::string& written_path() const { return written_path_; }

  /// Throws OutputError if not everything could be written; the old file, if any, then stays.
  void commit();

 private:
  [[noreturn]] void fail(int error) const;

  std::string path_;
  std::string written_path_;
  std::ofstream stream_;
  bool committed_ = false;
};

/// For a program that is about to end in the middle of things: removes what every AtomicFile that
/// is not committed has written, and keeps others from being made or committed from now on (who
/// tries waits for the end).
void remove_unfinished_files();

}  // namespace pagerank::io

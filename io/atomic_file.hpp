#pragma once

#include <fstream>
#include <ostream>
#include <stdexcept>
#include <string>

namespace pagerank::io {

/// A result could not be written. The message names the file.
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Whether that is a name of what the program has open: /dev/stdout and the like. It can stand for
/// a regular file that others read and write as well, and that has no such name.
[[nodiscard]] bool names_descriptor(const std::string& path);

/// A file that appears under its name only when it is whole: written without a name in the same
/// directory, or, where the file system has no such files, under a temporary name, and given its
/// own by commit(). Without commit() nothing is left behind; of a process that is killed not
/// either, but for a temporary name. Devices, pipes and other things that exist and are not regular
/// files, and names of descriptors (/dev/stdout), are written directly.
class AtomicFile {
 public:
  /// What the file is called until it is committed.
  enum class Until { nothing, temporary_name };

  /// Throws OutputError.
  explicit AtomicFile(std::string path, Until until = Until::nothing);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  [[nodiscard]] std::ostream& stream() { return stream_; }
  /// Where it lies until it is committed; for this process alone, unless it has a temporary name.
  [[nodiscard]] const std::string& written_path() const { return written_path_; }

  /// Whether it is a thing that is written directly.
  [[nodiscard]] bool is_direct() const { return written_path_ == path_; }

  /// Takes from group and others the permissions that they lack for the file at `path`; of another
  /// group, whose members may be anybody there, those that not both have. To be called before
  /// anything is written; what is written directly stays as it is. Throws OutputError.
  void restrict_like(const std::string& path);

  /// Writes what was put into the stream so far. Throws OutputError if it could not be written.
  void flush();

  /// Throws OutputError if not everything could be written; the old file, if any, then stays.
  void commit();

 private:
  /// Remembers why something could not be written first: that is asked when all has been put into
  /// the stream.
  class Buffer final : public std::filebuf {
   public:
    [[nodiscard]] int error() const { return error_; }

   protected:
    int_type overflow(int_type character) override;
    std::streamsize xsputn(const char* text, std::streamsize bytes) override;

   private:
    int error_ = 0;
  };

  [[noreturn]] void fail(int error) const;
  [[nodiscard]] std::string temporary_name() const;
  void open_unnamed();
  void name_unnamed();

  std::string path_;
  std::string written_path_;
  int unnamed_ = -1;  ///< The descriptor of a file without a name.
  Buffer buffer_;
  std::ostream stream_{&buffer_};
  bool committed_ = false;
};

/// For a program that is about to end in the middle of things: removes what every AtomicFile that
/// is not committed has written, and keeps others from being made or committed from now on (who
/// tries waits for the end). A file that a slow file system is just renaming may still be renamed.
void remove_unfinished_files();

}  // namespace pagerank::io

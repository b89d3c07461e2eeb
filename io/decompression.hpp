#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace pagerank::io {

/// Decompresses gzip data: one member after another, empty ones too, as `cat a.gz b.gz` leaves
/// them. Zero bytes may follow to the end, which some devices and archives leave.
class GzipStream {
 public:
  /// Whether what begins with these bytes is compressed. So many of them tell.
  static constexpr std::size_t magic_bytes = 2;
  [[nodiscard]] static bool begins_with(std::string_view bytes);

  /// Gives the next bytes of the compressed data, some of those that fit; 0 at the end and after.
  using Read = std::function<std::size_t(std::span<char>)>;

  /// `name` is the file's in messages.
  GzipStream(Read read, std::string name);
  ~GzipStream();
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;

  /// Writes the next bytes of the text to the front of `buffer`, some of those that fit; 0 at the
  /// end. Throws InputError where data is damaged or cut off, once all bytes before that were
  /// given, and what `read` throws; again if it is called again.
  [[nodiscard]] std::size_t read(std::span<char> buffer);

 private:
  struct State;

  [[nodiscard]] bool has(std::size_t bytes);
  [[nodiscard]] bool begin_member();

  Read read_;
  std::string name_;
  std::unique_ptr<State> state_;
};

}  // namespace pagerank::io

#include "io/decompression.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "core/array.hpp"
#include "io/input_error.hpp"

namespace pagerank::io {
namespace {

constexpr std::string_view magic("\x1f\x8b", GzipStream::magic_bytes);
constexpr std::size_t input_bytes = std::size_t{1} << 18;

}  // namespace

struct GzipStream::State {
  State() : input(input_bytes) {
    stream.next_in = input_begin();
    constexpr int gzip_alone = 16;
    if (inflateInit2(&stream, MAX_WBITS + gzip_alone) != Z_OK) throw std::bad_alloc();
  }
  ~State() { inflateEnd(&stream); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  [[nodiscard]] Bytef* input_begin() { return reinterpret_cast<Bytef*>(input.data()); }

  Array<char> input;
  z_stream stream{};  ///< Says what is left of the input, too.
  bool in_member = false;
  const char* damage = nullptr;  ///< What is wrong with the data that comes next.
};

bool GzipStream::begins_with(std::string_view bytes) {
  return bytes.starts_with(magic);
}

GzipStream::GzipStream(Read read, std::string name)
    : read_(std::move(read)), name_(std::move(name)), state_(std::make_unique<State>()) {}

GzipStream::~GzipStream() = default;

std::size_t GzipStream::read(std::span<char> buffer) {
  constexpr std::size_t most = std::numeric_limits<uInt>::max();
  const auto room = static_cast<uInt>(std::min(buffer.size(), most));
  z_stream& stream = state_->stream;
  while (room > 0 && (state_->in_member || begin_member())) {
    if (state_->damage != nullptr) {
      throw InputError(name_ + ": damaged compressed data: " + state_->damage);
    }
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = room;
    // Without input too: there was no room for all that zlib has made of what it was given.
    const int result = inflate(&stream, Z_NO_FLUSH);
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    if (result == Z_DATA_ERROR) state_->damage = stream.msg != nullptr ? stream.msg : "no reason";
    if (result == Z_STREAM_END) state_->in_member = false;
    if (stream.avail_out < room) return room - stream.avail_out;
    if (result == Z_BUF_ERROR && !has(1)) {
      throw InputError(name_ + ": compressed data is cut off");
    }
  }
  return 0;
}

/// Whether there is more input, so many bytes of it: they are read if they are not there.
bool GzipStream::has(std::size_t bytes) {
  z_stream& stream = state_->stream;
  while (stream.avail_in < bytes) {
    std::memmove(state_->input.data(), stream.next_in, stream.avail_in);
    stream.next_in = state_->input_begin();
    const std::size_t got = read_(std::span(state_->input).subspan(stream.avail_in));
    if (got == 0) return false;
    stream.avail_in += static_cast<uInt>(got);
  }
  return true;
}

/// False at the end of the data.
bool GzipStream::begin_member() {
  z_stream& stream = state_->stream;
  bool padded = false;
  for (; has(1) && *stream.next_in == 0; padded = true) {
    ++stream.next_in;
    --stream.avail_in;
  }
  if (!has(1)) return false;
  // (Half of the magic number, and then the end, is a member that is cut off.)
  const std::size_t seen = has(magic_bytes) ? magic_bytes : 1;
  const std::string_view begin(reinterpret_cast<const char*>(stream.next_in), seen);
  if (padded || !magic.starts_with(begin)) {
    state_->damage = "what follows a compressed part is not gzip data";
  }
  inflateReset(&stream);
  state_->in_member = true;
  return true;
}

}  // namespace pagerank::io

#include "tests/gzip_data.hpp"

#include <zlib.h>

#include <array>
#include <new>
#include <stdexcept>

namespace pagerank::tests {
namespace {

constexpr int as_gzip = 16;

std::string deflated(const std::string& text, int flush) {
  z_stream stream{};
  constexpr int fast = 1, memory = 8;
  if (deflateInit2(&stream, fast, Z_DEFLATED, MAX_WBITS + as_gzip, memory, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    throw std::bad_alloc();
  }
  std::string data(deflateBound(&stream, text.size()) + 64, ' ');
  std::string input = text;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(data.data());
  stream.avail_out = static_cast<uInt>(data.size());
  deflate(&stream, flush);
  data.resize(data.size() - stream.avail_out);
  deflateEnd(&stream);
  if (stream.avail_in > 0) throw std::logic_error("too small a buffer for gzip data");
  return data;
}

}  // namespace

std::string gzip(const std::string& text) {
  return deflated(text, Z_FINISH);
}

std::string begun_gzip(const std::string& text) {
  return deflated(text, Z_SYNC_FLUSH);
}

std::optional<std::string> gunzip(const std::string& data) {
  z_stream stream{};
  if (inflateInit2(&stream, MAX_WBITS + as_gzip) != Z_OK) throw std::bad_alloc();
  std::string input = data, text;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  std::array<char, 65'536> piece{};
  int result = Z_OK;
  while (result == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = piece.size();
    result = inflate(&stream, Z_NO_FLUSH);
    text.append(piece.data(), piece.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  if (result != Z_STREAM_END || stream.avail_in > 0) return std::nullopt;
  return text;
}

}  // namespace pagerank::tests

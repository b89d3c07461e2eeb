#pragma once

#include <optional>
#include <string>

/// gzip data by zlib alone.
namespace pagerank::tests {

/// A member of gzip data.
[[nodiscard]] std::string gzip(const std::string& text);

/// All bytes of a text in a member that goes on.
[[nodiscard]] std::string begun_gzip(const std::string& text);

/// The text of gzip data that is one member, whole and undamaged, with nothing behind it.
[[nodiscard]] std::optional<std::string> gunzip(const std::string& data);

}  // namespace pagerank::tests

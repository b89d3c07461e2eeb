#pragma once

#include <filesystem>
#include <string>

namespace pagerank::app {

/// Whether both paths name the same file, there or to be; pipes and devices do not count, nor does
/// an empty path.
[[nodiscard]] bool same_file(const std::string& a, const std::string& b);

/// Throws UsageError, which names the option.
void require_directory(const char* option, const std::filesystem::path& directory);

/// Early, so that no result is lost to a mistyped name: throws UsageError, which names the option,
/// where no file can be. An empty path is none.
void require_place_for(const char* option, const std::filesystem::path& file);

}  // namespace pagerank::app

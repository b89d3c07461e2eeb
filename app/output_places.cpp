#include "app/output_places.hpp"

#include <system_error>

#include "app/options.hpp"

namespace pagerank::app {
namespace fs = std::filesystem;

bool same_file(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return false;
  std::error_code error;
  for (const std::string& path : {a, b}) {
    if (fs::exists(path, error) && !fs::is_regular_file(path, error)) return false;
  }
  if (fs::equivalent(a, b, error)) return true;
  const fs::path whole_a = fs::weakly_canonical(a, error);
  if (error) return false;
  const fs::path whole_b = fs::weakly_canonical(b, error);
  return !error && whole_a == whole_b;
}

void require_directory(const char* option, const fs::path& directory) {
  std::error_code ignored;
  if (!fs::is_directory(directory.empty() ? fs::path(".") : directory, ignored)) {
    throw UsageError(std::string(option) + ": there is no directory " + directory.string());
  }
}

void require_place_for(const char* option, const fs::path& file) {
  std::error_code ignored;
  if (file.empty()) return;
  if (file == "-") {
    throw UsageError(std::string(option) + ": - is no file, standard output is /dev/stdout");
  }
  require_directory(option, file.parent_path());
  if (fs::is_directory(file, ignored)) {
    throw UsageError(std::string(option) + ": " + file.string() + " is a directory");
  }
}

}  // namespace pagerank::app

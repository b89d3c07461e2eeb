#include "tests/text_samples.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>

#include "tests/support.hpp"

namespace pagerank::tests {

std::vector<std::string> texts_of(const char* directory) {
  std::vector<fs::path> paths;
  for (const fs::directory_entry& file :
       fs::recursive_directory_iterator(source_dir() / directory)) {
    if (file.is_regular_file()) paths.push_back(file.path());
  }
  std::sort(paths.begin(), paths.end());  // the same mutations everywhere
  std::vector<std::string> texts(paths.size());
  std::transform(paths.begin(), paths.end(), texts.begin(), read_file);
  return texts;
}

std::vector<std::string> texts_of_fuzzing(const char* kind) {
  std::vector<fs::path> places = {"tests/data/fuzz"};
  if (const char* const corpus = std::getenv("PAGERANK_FUZZ_CORPUS")) places.emplace_back(corpus);
  std::vector<std::string> texts;
  for (const fs::path& place : places) {
    const std::vector<std::string> more = texts_of((place / kind).c_str());
    if (more.empty()) throw std::runtime_error("no inputs in " + (place / kind).string());
    texts.insert(texts.end(), more.begin(), more.end());
  }
  // Compressed: the simple readers take text.
  std::erase_if(texts, [](const std::string& text) { return text.starts_with("\x1f\x8b"); });
  return texts;
}

/// A weight of 16 to 19 digits, which only exact rounding reads right: any, or one half way between
/// two doubles, which are two apart from 2^53 on.
std::string weight_of_many_digits(Random& random) {
  if (random() % 4 == 0) {
    constexpr std::uint64_t first = std::uint64_t{1} << 53;
    return std::to_string(first + (random() % first | 1));
  }
  std::string digits =
      std::to_string(10'000'000'000'000'000 + random() % 9'000'000'000'000'000'000);
  digits.insert(random() % (digits.size() + 1), ".");
  if (random() % 2 == 0) digits += "e" + std::to_string(static_cast<int>(random() % 55) - 27);
  return digits;
}

std::string long_text(bool weighted, Random& random) {
  std::string text;
  for (int e = 0; e < long_text_entries; ++e) {
    const auto index = [&] {
      return std::to_string(1 + random() % (random() % 2 ? 99 : 12345678));
    };
    text += index() + ' ' + index();
    if (weighted) {
      static constexpr std::array<const char*, 12> forms = {
          " 1",  " 0.25", " 12345678.1234567",       " 123456789.5", " 1e5",  " .5", " 1.",
          " +1", " 3E-3", "\t0.1234567890123456789", " 1234567",     " 0.3e2"};
      const bool exotic = random() % 8 == 0;
      text += exotic ? random() % 2 == 0 ? forms[random() % forms.size()]
                                         : ' ' + weight_of_many_digits(random)
                     : ' ' + std::to_string(random() % 100'000) + '.' +
                           std::to_string(random() % 100'000);
    }
    static constexpr std::array<const char*, 8> ends = {"\n",  "\n",   "\n",         "\r\n",
                                                        " \n", "\n\n", "\n% note\n", "\n \t\n"};
    text += ends[random() % 64 == 0 ? random() % ends.size() : 0];
  }
  return "%%MatrixMarket matrix coordinate " + std::string(weighted ? "real" : "pattern") +
         " general\n12345678 12345678 " + std::to_string(long_text_entries) + "\n" + text;
}

std::string long_edge_list(int columns, std::uint64_t range, Random& random) {
  std::vector<std::uint64_t> nodes(500);
  for (std::uint64_t& node : nodes) node = range == 0 ? random() : random() % range;
  std::string text =
      columns == 4 ? "% asym positive\n% 1 1 1\n" : "# Nodes: 1 Edges: 1\n# FromNodeId\tToNodeId\n";
  for (int e = 0; e < long_text_entries; ++e) {
    const auto id = [&] { return std::to_string(nodes[random() % nodes.size()]); };
    text += id() + (random() % 2 ? '\t' : ' ') + id();
    static constexpr std::array<const char*, 6> weights = {" 1",   "\t0.25", " 12345678.1234567",
                                                           " 1e5", " .5",    "  +1"};
    if (columns > 2) text += weights[random() % weights.size()];
    static constexpr std::array<const char*, 6> times = {
        " 1180000001", "\t1", " 0.5", "\t  -3", " +1e9", " 123456789012345678901234567890"};
    if (columns > 3) text += times[random() % 8 == 0 ? random() % times.size() : 0];
    static constexpr std::array<const char*, 7> ends = {
        "\n", "\r\n", " \n", "\n\n", "\n% note\n", "\n# 1 2 3\n", "\n \t\n"};
    text += ends[random() % 64 == 0 ? random() % ends.size() : 0];
  }
  return text;
}

std::vector<std::string> texts_of_full_blocks() {
  constexpr int entries = 400'000;
  std::string text =
      "%%MatrixMarket matrix coordinate pattern general\n99 99 " + std::to_string(entries) + "\n";
  Random random(28);
  for (int e = 0; e < entries; ++e) {
    text += std::to_string(1 + random() % 99);
    text += ' ';
    text += std::to_string(1 + random() % 99);
    text += '\n';
  }
  std::string bad = text;
  bad[text.size() - 100'000] = 'x';
  return {text, bad, text + "1 1\n", text + "\n\n"};
}

std::string mutate(std::string text, Random& random) {
  static constexpr std::array<const char*, 24> pieces = {
      "0",          "9",     "-",        "+",       ".",
      "e",          " ",     "\t",       "\r",      "\n",
      "\n\n",       "%",     "\n%",      "x",       "18446744073709551617",
      "4294967297", "1 ",    "1 1",      "1 1\n",   "nan",
      "inf",        "1e999", "\xff\xfe", "99999999"};
  for (int changes = random() % 4 == 0 ? 3 : 1; changes > 0; --changes) {
    const std::size_t at = random() % (text.size() + 1);
    const std::size_t few = 1 + random() % 8;
    switch (random() % 7) {
      case 0:
        text.insert(at, pieces[random() % pieces.size()]);
        break;
      case 1:
        text.erase(at, few);
        break;
      case 2:
        text.insert(at, text.substr(random() % (text.size() + 1), few * 4));
        break;
      case 3:
        if (at < text.size()) text[at] = static_cast<char>(random());
        break;
      case 4:
        if (at < text.size()) text[at] = static_cast<char>('0' + random() % 10);
        break;
      case 5:
        text.insert(at, 1, '\0');
        break;
      default:
        if (random() % 4 == 0) text.resize(at);
    }
  }
  return text;
}

}  // namespace pagerank::tests

#include "app/command_line.hpp"

#include <charconv>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "app/options.hpp"

namespace pagerank::app {

namespace po = boost::program_options;

po::variables_map parse_command_line(po::options_description options, const char* positional,
                                     int argc, const char* const* argv) {
  options.add_options()(positional, po::value<std::vector<std::string>>());
  po::positional_options_description arguments;
  arguments.add(positional, -1);
  namespace style = po::command_line_style;
  constexpr int no_guessing = style::default_style & ~style::allow_guessing;
  po::variables_map given;
  try {
    po::store(po::command_line_parser(argc, argv)
                  .options(options)
                  .positional(arguments)
                  .style(no_guessing)
                  .run(),
              given);
  } catch (const po::error& error) {
    throw UsageError(error.what());
  }
  return given;
}

std::int64_t whole_number(const po::variables_map& given, const char* name, std::int64_t least,
                          std::int64_t most) {
  const auto value = given[name].as<std::int64_t>();
  if (value < least || value > most) {
    throw UsageError("--" + std::string(name) + ": expected " + std::to_string(least) + " to " +
                     std::to_string(most) + ", found " + std::to_string(value));
  }
  return value;
}

std::uint64_t byte_count(const po::variables_map& given, const char* name) {
  constexpr std::string_view units = "KMGT";
  const auto& text = given[name].as<std::string>();
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const std::size_t unit = rest + 1 == end ? units.find(*rest) : std::string_view::npos;
  const std::size_t shift = rest == end ? 0 : 10 * (unit + 1);
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (error != std::errc{} || (rest != end && unit == std::string_view::npos) ||
      number > most >> shift) {
    throw UsageError("--" + std::string(name) +
                     ": expected a number of bytes, as 500000000, 500M or 40G, found '" + text +
                     "'");
  }
  return number << shift;
}

}  // namespace pagerank::app

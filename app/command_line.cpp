#include "app/command_line.hpp"

#include <string>
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

}  // namespace pagerank::app

#pragma once

#include <boost/program_options.hpp>
#include <cstdint>

namespace pagerank::app {

/// The command line by these options, with arguments that belong to no option under the name
/// `positional`. Names are not guessed from their beginnings. Throws UsageError.
[[nodiscard]] boost::program_options::variables_map parse_command_line(
    boost::program_options::options_description options, const char* positional, int argc,
    const char* const* argv);

/// The option's value. Throws UsageError if it is not within [least, most].
[[nodiscard]] std::int64_t whole_number(const boost::program_options::variables_map& given,
                                        const char* name, std::int64_t least, std::int64_t most);

/// A number of bytes: digits, and perhaps K, M, G or T behind them for powers of 1024. Throws
/// UsageError with the option's name for anything else, and for more than 2^63 - 1.
[[nodiscard]] std::uint64_t byte_count(const boost::program_options::variables_map& given,
                                       const char* name);

}  // namespace pagerank::app

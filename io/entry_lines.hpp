#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/array.hpp"
#include "io/line_fields.hpp"
#include "io/short_lines.hpp"

/// Lines of two ids and perhaps a weight, whatever the format: parsing a piece of text that holds
/// many of them.
///
/// A format is a Syntax:
///     using Id = ...;                  // what its ids are held as
///     bool weighted() const;           // whether its lines have weights
///     // The entry on one line (without its newline), or nothing if it is blank or a comment.
///     // Throws LineFault, with line 1, at what is neither.
///     std::optional<Entry<Id>> any_line(std::string_view) const;
///     // Whether weights have digits only.
///     bool whole_weights() const;
///     // Whether there may be fields behind these.
///     bool more_fields() const;
///     // Takes the numbers of a line of the shortest form, or returns false if they break a rule.
///     bool take(std::uint64_t first, std::uint64_t second, Id*, Id*) const;
///     // Parses the line at `at` if it is of the usual form, moves behind it and returns true.
///     // There are at least usual_line_most characters before `end`.
///     static constexpr std::ptrdiff_t usual_line_most;
///     template <bool weighted>
///     bool usual_line(const char*& at, const char* end, Id*, Id*, double* weight) const;
namespace pagerank::io {

/// One entry: its ids as they stand on the line, weight 1 where the format has none.
template <class Id>
struct Entry {
  Id first = 0;
  Id second = 0;
  double weight = 1;
};

/// What parse_entry_lines() made of a piece of text.
template <class Id>
struct ParsedEntries {
  /// The entries in order, as in Entry; no weights where the format has none.
  Array<Id> first, second;
  Array<double> weights;

  std::uint64_t lines = 0;            ///< Read, whatever was on them.
  std::vector<std::uint32_t> others;  ///< Of these the blank ones and comments, counted from 1.
  std::optional<LineFault> fault;     ///< The first bad line, counted from 1 in this text.

  [[nodiscard]] std::uint64_t entry_count() const { return first.size(); }
};

constexpr std::size_t shortest_entry_line = 4;  ///< "1 1\n"

namespace detail {

/// A stretch of whole lines, and where its entries go.
template <class Id>
struct Stretch {
  const char* at;
  const char* end;
  Id* first;
  Id* second;
  double* weights;
  std::uint64_t entries = 0;
  std::uint64_t lines = 0;
  std::vector<std::uint32_t> others = {};  ///< As in ParsedEntries,
  std::optional<LineFault> fault = {};     ///< and so is this; nothing is left to parse then.
};

/// Parses lines of the shortest form, as long as there are.
template <bool weighted, class Syntax>
void parse_short_lines(Stretch<typename Syntax::Id>& stretch, const Syntax& syntax) {
  if constexpr (std::endian::native != std::endian::little) return;
  if (syntax.more_fields()) return;
  // So many that most windows hold them: a loop that always ends alike is foreseen.
  constexpr int lines_a_window = weighted ? 2 : 4;
  constexpr std::ptrdiff_t room = usual::window + 8;
  // Copies, which stay in registers.
  auto *const first_to = stretch.first, *const second_to = stretch.second;
  double* const weight_to = stretch.weights;
  const char *at = stretch.at, *const end = stretch.end;
  std::uint64_t entry = stretch.entries;
  bool more = true;
  while (more && end - at >= room) {
    usual::WindowLines window(at);
    int lines = 0;
    for (; lines < lines_a_window; ++lines) {
      std::uint32_t first = 0, second = 0;
      double weight = 0;
      if (!window.next<weighted>(syntax.whole_weights(), first, second, weight) ||
          !syntax.take(first, second, first_to + entry, second_to + entry)) {
        break;
      }
      if constexpr (weighted) weight_to[entry] = weight;
      ++entry;
      at = window.at();
    }
    more = lines > 0;
  }
  stretch.lines += entry - std::exchange(stretch.entries, entry);
  stretch.at = at;
}

template <bool weighted, class Syntax>
[[gnu::always_inline]] inline bool parse_usual_line(const Syntax& syntax,
                                                    const Stretch<typename Syntax::Id>& stretch,
                                                    const char*& at, std::uint64_t entry) {
  return syntax.template usual_line<weighted>(at, stretch.end, stretch.first + entry,
                                              stretch.second + entry,
                                              weighted ? stretch.weights + entry : nullptr);
}

/// Parses usual lines of both stretches in turns, as long as there are: where a line begins is
/// known when the one before is read to its end, and a processor that has two such chains to follow
/// waits for neither.
template <bool weighted, class Syntax>
void parse_usual_lines(Stretch<typename Syntax::Id>& one, Stretch<typename Syntax::Id>& two,
                       const Syntax& syntax) {
  if constexpr (std::endian::native != std::endian::little) return;
  constexpr std::ptrdiff_t room = Syntax::usual_line_most;
  const char *at1 = one.at, *at2 = two.at;
  std::uint64_t e1 = one.entries, e2 = two.entries;
  while (one.end - at1 >= room && two.end - at2 >= room) {
    if (!parse_usual_line<weighted>(syntax, one, at1, e1)) break;
    ++e1;
    if (!parse_usual_line<weighted>(syntax, two, at2, e2)) break;
    ++e2;
  }
  one.lines += e1 - std::exchange(one.entries, e1);
  two.lines += e2 - std::exchange(two.entries, e2);
  one.at = at1;
  two.at = at2;
}

/// The same for one stretch.
template <bool weighted, class Syntax>
void parse_usual_lines(Stretch<typename Syntax::Id>& stretch, const Syntax& syntax) {
  if constexpr (std::endian::native != std::endian::little) return;
  while (stretch.end - stretch.at >= Syntax::usual_line_most &&
         parse_usual_line<weighted>(syntax, stretch, stretch.at, stretch.entries)) {
    ++stretch.entries;
    ++stretch.lines;
  }
}

/// Parses the next line, if there is one, whatever it is.
template <class Syntax>
void parse_any_line(Stretch<typename Syntax::Id>& stretch, const Syntax& syntax) {
  if (stretch.at == stretch.end) return;
  const auto left = static_cast<std::size_t>(stretch.end - stretch.at);
  const auto* newline = static_cast<const char*>(std::memchr(stretch.at, '\n', left));
  const char* const line_end = newline != nullptr ? newline : stretch.end;
  ++stretch.lines;
  try {
    const std::optional<Entry<typename Syntax::Id>> entry =
        syntax.any_line({stretch.at, static_cast<std::size_t>(line_end - stretch.at)});
    stretch.at = newline != nullptr ? newline + 1 : stretch.end;
    if (!entry) {
      stretch.others.push_back(static_cast<std::uint32_t>(stretch.lines));
      return;
    }
    stretch.first[stretch.entries] = entry->first;
    stretch.second[stretch.entries] = entry->second;
    if (syntax.weighted()) stretch.weights[stretch.entries] = entry->weight;
    ++stretch.entries;
  } catch (LineFault& fault) {
    fault.line = stretch.lines;
    const bool is_last = newline == nullptr;  // all others have theirs
    stretch.fault = is_last && fault.line_ended ? cut_off(fault) : std::move(fault);
    stretch.at = stretch.end;
  }
}

template <bool weighted, class Syntax>
void parse_stretches(Stretch<typename Syntax::Id>& one, Stretch<typename Syntax::Id>& two,
                     const Syntax& syntax) {
  while (one.at != one.end && two.at != two.end) {
    parse_short_lines<weighted>(one, syntax);
    parse_short_lines<weighted>(two, syntax);
    parse_usual_lines<weighted>(one, two, syntax);
    parse_any_line(one, syntax);
    parse_any_line(two, syntax);
  }
  for (Stretch<typename Syntax::Id>* const rest : {&one, &two}) {
    while (rest->at != rest->end) {
      parse_short_lines<weighted>(*rest, syntax);
      parse_usual_lines<weighted>(*rest, syntax);
      parse_any_line(*rest, syntax);
    }
  }
}

}  // namespace detail

/// Parses the lines of `text`, which holds whole ones (the last may lack its newline), into
/// `result`, whose memory is used again. Stops at the first fault. Knows nothing of the lines
/// before, so pieces of a file can be parsed side by side. Lines of the usual form go a faster way
/// than Syntax::any_line(), to the same result.
template <class Syntax>
void parse_entry_lines(std::string_view text, const Syntax& syntax,
                       ParsedEntries<typename Syntax::Id>& result) {
  const bool weighted = syntax.weighted();
  const std::size_t middle = text.find('\n', text.size() / 2);
  const std::size_t half = middle == std::string_view::npos ? text.size() : middle + 1;
  const std::size_t half_room = half / shortest_entry_line + 1;
  const std::size_t room = half_room + (text.size() - half) / shortest_entry_line + 1;
  result.first.resize(room);
  result.second.resize(room);
  result.weights.resize(weighted ? room : 0);
  const auto stretch = [&](std::size_t begin, std::size_t end, std::size_t first_entry) {
    return detail::Stretch<typename Syntax::Id>{
        .at = text.data() + begin,
        .end = text.data() + end,
        .first = result.first.data() + first_entry,
        .second = result.second.data() + first_entry,
        .weights = weighted ? result.weights.data() + first_entry : nullptr};
  };
  auto one = stretch(0, half, 0), two = stretch(half, text.size(), half_room);
  weighted ? detail::parse_stretches<true>(one, two, syntax)
           : detail::parse_stretches<false>(one, two, syntax);

  result.lines = one.lines;
  result.others = std::move(one.others);
  result.fault = std::move(one.fault);
  std::uint64_t entries = one.entries;
  if (!result.fault) {
    const auto join = [&two, &one](auto* first, const auto* second) {
      std::memmove(first + one.entries, second, two.entries * sizeof *first);
    };
    join(one.first, two.first);
    join(one.second, two.second);
    if (weighted) join(one.weights, two.weights);
    entries += two.entries;
    for (const std::uint32_t line : two.others) {
      result.others.push_back(static_cast<std::uint32_t>(one.lines) + line);
    }
    result.lines += two.lines;
    result.fault = std::move(two.fault);
    if (result.fault) result.fault->line += one.lines;
  }
  result.first.resize(entries);
  result.second.resize(entries);
  result.weights.resize(weighted ? entries : 0);
}

}  // namespace pagerank::io

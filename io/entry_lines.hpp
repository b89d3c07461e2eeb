#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/page_array.hpp"
#include "io/line_fields.hpp"
#include "io/short_lines.hpp"
#include "io/short_lines_avx512.hpp"

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
///     // Which ids of eight digits at most there are.
///     usual::IdRange short_ids() const;
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

/// What parse_entry_lines() made of a piece of text. In pages of its own: what the heap keeps of
/// each thread's would be missed by the build.
template <class Id>
struct ParsedEntries {
  /// The entries in order, as in Entry; no weights where the format has none.
  PageArray<Id> first, second;
  PageArray<double> weights;

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

/// Parses lines of the shortest form, as long as there are; as many characters as the longest
/// number has stand before the first.
template <bool weighted, class Syntax>
void parse_short_lines(Stretch<typename Syntax::Id>& stretch, const Syntax& syntax) {
  if constexpr (std::endian::native != std::endian::little) return;
  if (syntax.more_fields()) return;
  const usual::LineNumbers<typename Syntax::Id> to = {
      stretch.first + stretch.entries, stretch.second + stretch.entries,
      weighted ? stretch.weights + stretch.entries : nullptr};
  const auto read = [&](auto read_lines) {
    return read_lines(stretch.at, stretch.end, syntax.short_ids(), syntax.whole_weights(), to);
  };
  std::uint64_t lines = 0;
#if defined(__x86_64__)
  if (usual::avx512::is_supported()) {
    lines = read(usual::avx512::read_lines<weighted, typename Syntax::Id>);
  } else
#endif
    lines = read(usual::read_lines<weighted, typename Syntax::Id>);
  stretch.lines += lines;
  stretch.entries += lines;
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

/// Parses the rest of a stretch, in two halves that go in turns.
template <bool weighted, class Syntax>
void parse_in_halves(Stretch<typename Syntax::Id>& all, const Syntax& syntax) {
  const auto left = static_cast<std::size_t>(all.end - all.at);
  const std::size_t middle = std::string_view(all.at, left).find('\n', left / 2);
  const std::size_t half = middle == std::string_view::npos ? left : middle + 1;
  const char* const end = std::exchange(all.end, all.at + half);
  const std::uint64_t second = all.entries + half / shortest_entry_line + 1;
  Stretch<typename Syntax::Id> rest{.at = all.end,
                                    .end = end,
                                    .first = all.first + second,
                                    .second = all.second + second,
                                    .weights = weighted ? all.weights + second : nullptr};
  while (all.at != all.end && rest.at != rest.end) {
    parse_short_lines<weighted>(all, syntax);
    parse_short_lines<weighted>(rest, syntax);
    parse_usual_lines<weighted>(all, rest, syntax);
    parse_any_line(all, syntax);
    parse_any_line(rest, syntax);
  }
  for (Stretch<typename Syntax::Id>* const one : {&all, &rest}) {
    while (one->at != one->end) {
      parse_short_lines<weighted>(*one, syntax);
      parse_usual_lines<weighted>(*one, syntax);
      parse_any_line(*one, syntax);
    }
  }
  if (all.fault) return;
  const auto join = [&](auto* to, const auto* from) {
    std::memmove(to + all.entries, from, rest.entries * sizeof *from);
  };
  join(all.first, rest.first);
  join(all.second, rest.second);
  if (weighted) join(all.weights, rest.weights);
  all.entries += rest.entries;
  for (const std::uint32_t line : rest.others) {
    all.others.push_back(static_cast<std::uint32_t>(all.lines) + line);
  }
  all.fault = std::move(rest.fault);
  if (all.fault) all.fault->line += all.lines;
  all.lines += rest.lines;
}

template <bool weighted, class Syntax>
void parse_lines(Stretch<typename Syntax::Id>& all, const Syntax& syntax) {
  const char* const begin = all.at;
  while (all.at != all.end && all.at - begin < usual::longest_number) parse_any_line(all, syntax);
  parse_short_lines<weighted>(all, syntax);
  if (all.at != all.end) parse_in_halves<weighted>(all, syntax);
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
  const std::size_t room = text.size() / shortest_entry_line + 2;
  result.first.resize(room);
  result.second.resize(room);
  result.weights.resize(weighted ? room : 0);
  detail::Stretch<typename Syntax::Id> all{.at = text.data(),
                                           .end = text.data() + text.size(),
                                           .first = result.first.data(),
                                           .second = result.second.data(),
                                           .weights = weighted ? result.weights.data() : nullptr};
  weighted ? detail::parse_lines<true>(all, syntax) : detail::parse_lines<false>(all, syntax);
  result.lines = all.lines;
  result.others = std::move(all.others);
  result.fault = std::move(all.fault);
  const std::uint64_t entries = all.entries;
  result.first.resize(entries);
  result.second.resize(entries);
  result.weights.resize(weighted ? entries : 0);
}

}  // namespace pagerank::io

#include "gpu/entry_reader.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <optional>
#include <stdexcept>
#include <utility>

#include "core/pagerank.hpp"
#include "core/parallel.hpp"

namespace pagerank::gpu {
namespace {

class EntryReader {
 public:
  EntryReader(EntrySource& source, TextRing& ring, ChunkParser& parser, int threads)
      : source_(source), ring_(ring), parser_(parser), threads_(thread_count(threads)) {}

  std::uint64_t read() try {
    for (;;) {
      while (!chunks_.empty() && must_settle()) settle_oldest();
      Chunk chunk = take_chunk();
      if (chunk.blocks.empty()) break;
      if (chunk.blocks.front().error) {
        while (!chunks_.empty()) settle_oldest();
        refuse(chunk);
      }
      join_texts(chunk);
      chunks_.push_back(std::move(chunk));
      parser_.submit(chunks_.back().texts);
    }
    while (!chunks_.empty()) settle_oldest();
    source_.close();
    return entries_;
  } catch (const OutOfMemory&) {
    for (const Chunk& chunk : chunks_) inspect(chunk);  // what is wrong with the text comes first
    throw;
  }

 private:
  struct Chunk {
    std::vector<TextBlock> blocks;
    std::vector<std::string_view> texts;  ///< Of these, some of them joined,
    std::uint32_t joints = 0;             ///< by lines of their own.
  };

  /// Rather than to wait for text: the readers may wait for buffers.
  [[nodiscard]] bool must_settle() {
    return chunks_.size() == parser_.most_chunks() || parser_.oldest_is_finished() ||
           !ring_.ready();
  }

  /// The next block and those after it that are there; one with an error comes alone.
  [[nodiscard]] Chunk take_chunk() {
    Chunk chunk;
    std::vector<TextBlock>& blocks = chunk.blocks;
    if (waiting_) {
      blocks.push_back(*std::exchange(waiting_, std::nullopt));
      return chunk;
    }
    do {
      std::optional<TextBlock> block = ring_.take();
      if (!block) break;
      if (block->error && !blocks.empty()) {
        waiting_ = std::move(block);
        break;
      }
      blocks.push_back(*std::move(block));
    } while (!blocks.back().error && blocks.size() < parser_.most_blocks() && ring_.ready());
    return chunk;
  }

  /// Texts that nearly meet in the ring become one, with a comment between them, which travels
  /// faster.
  static void join_texts(Chunk& chunk) {
    constexpr std::ptrdiff_t longest_joint = 4096;
    for (TextBlock& block : chunk.blocks) {
      std::span<char>& text = block.text;
      if (text.empty()) continue;
      if (text.back() != '\n') {  // the last line; there is room
        text = {text.data(), text.size() + 1};
        text.back() = '\n';
      }
      if (!chunk.texts.empty()) {
        std::string_view& before = chunk.texts.back();
        const std::ptrdiff_t gap = text.data() - (before.data() + before.size());
        if (gap > 1 && gap <= longest_joint) {
          char* const joint = text.data() - gap;
          std::fill_n(joint, gap - 1, '%');
          joint[gap - 1] = '\n';
          before = {before.data(), before.size() + static_cast<std::size_t>(gap) + text.size()};
          ++chunk.joints;
          continue;
        }
      }
      chunk.texts.push_back(block.view());
    }
  }

  void settle_oldest() {
    const ChunkParser::Parsed parsed = parser_.finish_oldest();
    const Chunk& chunk = chunks_.front();
    if (parsed.entries > source_.shape().declared_entries - entries_) refuse(chunk);
    const std::vector<ChunkParser::Known> known = parse_unknown(chunk, parsed);  // faults first
    parser_.require_room(entries_ + parsed.entries);
    if (!known.empty()) parser_.insert(known);
    for (const TextBlock& block : chunk.blocks) {  // all of it with the first block
      const bool first = &block == &chunk.blocks.front();
      source_.accept(block.index, first ? parsed.lines - chunk.joints : 0,
                     first ? parsed.entries : 0);
    }
    entries_ += parsed.entries;
    ring_.release(chunk.blocks.size());
    chunks_.pop_front();
  }

  [[nodiscard]] std::vector<ChunkParser::Known> parse_unknown(const Chunk& chunk,
                                                              const ChunkParser::Parsed& parsed) {
    std::vector<ChunkParser::Known> known(parsed.unknown.size());
    std::atomic<bool> all_good = true;
    constexpr std::size_t piece = 256;
    parallel_for((known.size() + piece - 1) / piece, threads_, [&](std::size_t p) {
      for (std::size_t i = p * piece; i < std::min(known.size(), (p + 1) * piece); ++i) {
        if (!all_good) return;  // finding out that a line is bad takes a microsecond
        const ChunkParser::Unknown& unknown = parsed.unknown[i];
        const auto entry = source_.parse_line(line_at(chunk, unknown.begin));
        if (entry) known[i] = {entries_ + unknown.entry, *entry};
        if (!entry) all_good = false;
      }
    });
    if (!all_good) refuse(chunk);
    return known;
  }

  [[nodiscard]] static std::string_view line_at(const Chunk& chunk, std::size_t begin) {
    auto text = chunk.texts.begin();
    while (begin >= text->size()) {
      begin -= text->size();
      ++text;
    }
    const std::string_view rest = text->substr(begin);
    return rest.substr(0, rest.find('\n'));
  }

  /// Has the source say what is wrong with the chunk, if anything is,
  void inspect(const Chunk& chunk) {
    for (const TextBlock& block : chunk.blocks) source_.inspect(block);
  }
  /// which it is.
  [[noreturn]] void refuse(const Chunk& chunk) {
    inspect(chunk);
    throw std::logic_error("two parsers differ on the same text");
  }

  EntrySource& source_;
  TextRing& ring_;
  ChunkParser& parser_;
  int threads_;
  std::deque<Chunk> chunks_;          ///< Under way.
  std::optional<TextBlock> waiting_;  ///< Comes after the chunk that was taken last.
  std::uint64_t entries_ = 0;         ///< Of the chunks that are settled.
};

}  // namespace

std::uint64_t read_entries(EntrySource& source, TextRing& ring, ChunkParser& parser, int threads) {
  return EntryReader(source, ring, parser, threads).read();
}

}  // namespace pagerank::gpu

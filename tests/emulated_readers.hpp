#pragma once

#include "app/text_source.hpp"
#include "gpu/entry_reader.hpp"
#include "tests/both_readers.hpp"
#include "tests/emulated_parser.hpp"

namespace pagerank::tests {

/// What the GPU's reader leaves, with the host in the GPU's place: `knows` no line, or all that the
/// GPU does.
template <class Reader>
class EmulatedReading {
 public:
  EmulatedReading(io::ByteSource& source, const io::ReadOptions& options, bool knows)
      : reader_(source, options),
        entries_(reader_),
        ring_(entries_, options.threads, 4),
        parser_(entries_.shape(), SourceIndex::row, knows) {
    gpu::read_entries(entries_, ring_, parser_, options.threads);
  }
  [[nodiscard]] const Reader& reader() const { return reader_; }
  [[nodiscard]] EmulatedParser& parser() { return parser_; }

 private:
  Reader reader_;
  app::TextSource entries_;
  gpu::TextRing ring_;
  EmulatedParser parser_;
};

template <bool knows>
struct EmulatedReadersThat : MatrixMarketReaders {
  static Graph parallel(io::ByteSource& source, const io::ReadOptions& options) {
    EmulatedReading<io::MatrixMarketReader> reading(source, options, knows);
    return {reading.reader().header(), reading.parser().take_edges()};
  }
};

template <bool knows>
struct EmulatedEdgeListReadersThat : EdgeListReaders {
  static Graph parallel(io::ByteSource& source, const io::ReadOptions& options) {
    EmulatedReading<io::EdgeListReader> reading(source, options, knows);
    return reading.parser().take_labelled_edges();
  }
};

using EmulatedReaders = EmulatedReadersThat<true>;
using IgnorantReaders = EmulatedReadersThat<false>;
using EmulatedEdgeListReaders = EmulatedEdgeListReadersThat<true>;
using IgnorantEdgeListReaders = EmulatedEdgeListReadersThat<false>;

}  // namespace pagerank::tests

// SPDX-License-Identifier: GPL-2.0-or-later
// Decodes a nest trace to events in the order of their times. Two engines write a POWER9 trace and,
// as far as known, a later trace. Each engine writes every second line of 128 bytes, at its own
// pace. This class therefore reads the two streams separately and merges their events.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/traces/choice.h"
#include "core/nest_trace/decoder.h"
#include "core/nest_trace/layout.h"
#include "core/nest_trace/sink.h"
#include "core/selection/selection.h"
#include "output/io/input_file.h"
#include "output/io/progress.h"

namespace htmtrace {

class NestReading {
 public:
  // Reads the beginning, up to the first records other than filler, and infers the layout from
  // them. `layout` overrides the inferred layout. Throws Error.
  NestReading(const ChosenTrace& trace, std::optional<nest::Layout> layout);

  // Reads only the part of the trace that holds the selected times, if an index is beside the
  // trace. Returns true if the index is used. Call this ahead of all other functions that read.
  // Throws Error.
  bool narrow(const ChosenTrace& trace, const Selection& selection);

  // Reads the trace in file order. Call this ahead of all other functions that read.
  void keep_file_order() { order_known_ = true; }

  // Returns true if the buffer wrapped. advance() then begins at each engine's oldest record. The
  // first call searches for these records, unless the order is known or the file cannot be read at
  // one offset for each engine. Offsets are always file offsets. Throws Error.
  bool had_wrapped();
  // The offset of each engine's oldest record; 0: the engine's part of the buffer did not wrap.
  std::array<uint64_t, 2> oldest() const;

  const nest::LayoutEvidence& evidence() const { return evidence_; }
  nest::Layout layout() const { return layout_; }
  // Names the layout in use, the reason for this choice, and the evidence.
  std::string describe_layout() const;
  // Returns true if the record layout is known, or if there are no records.
  bool can_be_told() const { return layout_ != nest::Layout::kUnknown || evidence_.records == 0; }
  unsigned engines() const { return engines_; }
  const std::string& name() const { return inputs_.front().name(); }
  const InputFile& input() const { return inputs_.front(); }
  std::optional<uint64_t> size_bytes() const { return inputs_.front().size_bytes(); }

  // Reads small pieces, for a caller that needs few events. Has no effect on one stream of two
  // engines, because the size of the pieces affects the order of their events.
  void read_little() {
    if (inputs_.size() == engines_) step_bytes_ = kLittleBytes;
  }

  // Reads on, and passes on the events whose order is final. Returns false at the end. A sink with
  // satisfied() receives no event after satisfied() returns true.
  template <nest::EventSink Sink>
  bool advance(Sink& sink) {
    had_wrapped();
    const bool more = read_on();
    merge(sink);
    return more;
  }

  // An alternative to advance(): reads on, and passes on undecoded records in file order, the
  // records of one engine in each call of `take`. Returns false at the end.
  template <class Take>
  bool advance_records(const Take& take) {
    Engine& first = *engine_[0];
    std::span<const std::byte> piece = next_piece(0);
    for_each_line(piece, first.offset, take);
    first.offset += piece.size();
    return !piece.empty();
  }

  // The file offset that reading has reached; with two engines, the higher offset.
  uint64_t offset() const;
  // Shows in `progress` the offset that reading has reached.
  void show(Progress& progress) const {
    progress.decoding(offset(), size_bytes().value_or(0), "nest trace");
  }
  // The statistics of the records that advance() has read, and of the filler before them.
  nest::Statistics statistics();

 private:
  static constexpr size_t kPieceBytes = 256 << 10;  // in whole lines
  static constexpr size_t kLittleBytes = 4 << 10;

  struct Engine {
    nest::Decoder decoder;
    uint64_t offset = 0;               // file offset of the next byte
    uint64_t until = Selection::kAny;  // no event from this offset on is needed
    uint64_t oldest = 0;     // offset of the oldest record; the records before it are read last
    bool in_newest = false;  // these last records are being read
    bool ended = false;

    void take(std::span<const std::byte> records, uint64_t at);
  };

  bool read_on();
  bool read_piece(size_t input);
  std::span<const std::byte> next_piece(size_t input);
  void go_to(size_t input, uint64_t offset);

  // take(engine, records, offset)
  template <class Take>
  void for_each_line(std::span<const std::byte> piece, uint64_t offset, const Take& take) const {
    if (engines_ == 1) return take(0, piece, offset);
    for (size_t at = 0; at < piece.size(); at += nest::kLineBytes) {
      const size_t size = std::min(nest::kLineBytes, piece.size() - at);
      take((offset + at) / nest::kLineBytes % 2, piece.subspan(at, size), offset + at);
    }
  }
  static std::span<const nest::Event> ready_of(Engine& engine);
  void split(std::span<const std::byte> piece, uint64_t offset, size_t only);

  // Passes on the earliest event as long as each engine that has not ended has an event. On one
  // stream of two engines, passes on events as long as any engine has an event.
  template <nest::EventSink Sink>
  void merge(Sink& sink) {
    std::array<std::span<const nest::Event>, 2> ready;
    for (unsigned i = 0; i < engines_; i++) ready[i] = ready_of(*engine_[i]);
    std::array<const nest::Event*, 2> next = {ready[0].data(), ready[1].data()};
    const std::array<const nest::Event*, 2> end = {next[0] + ready[0].size(),
                                                   next[1] + ready[1].size()};
    while (next[0] != end[0] && next[1] != end[1] && !is_satisfied(sink)) {
      // No branch, because the processor cannot predict the earlier event.
      const unsigned earlier = next[1]->time < next[0]->time ? 1 : 0;
      sink.event(*next[earlier]++);
    }
    for (unsigned i = 0; i < engines_; i++) {
      if (waited_for(1 - i)) continue;
      while (next[i] != end[i] && !is_satisfied(sink)) sink.event(*next[i]++);
    }
    for (unsigned i = 0; i < engines_; i++) {
      engine_[i]->decoder.drop(static_cast<size_t>(next[i] - ready[i].data()));
    }
  }
  // True if the engine may still deliver an event that is earlier than the other engine's events.
  bool waited_for(unsigned engine) const {
    return engine < engines_ && !engine_[engine]->ended && inputs_.size() > 1;
  }

  std::vector<InputFile> inputs_;  // one for each engine, or one for all
  std::vector<std::byte> piece_;
  size_t step_bytes_ = kPieceBytes;
  uint64_t filler_bytes_ = 0;         // filler that precedes beginning_, in whole pieces
  std::vector<std::byte> beginning_;  // the bytes that were read to infer the layout
  nest::LayoutEvidence evidence_;
  bool layout_given_;
  nest::Layout layout_;
  unsigned engines_ = 1;
  bool order_known_;
  std::array<std::unique_ptr<Engine>, 2> engine_;
};

// Describes where the trace begins in the file, for people. Empty if the buffer did not wrap.
std::string describe_wrap(NestReading& reading);

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
// The bytes of a nest trace to its events in the order of time. A POWER9 trace (and by all that is
// known a later one) is written by two engines, each into every second line of 128 bytes and each
// at its own pace: the two streams are read for themselves and merged.
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

namespace htmtrace {

class NestReading {
 public:
  // Reads the beginning, up to the first records that are no filler, and judges the layout, unless
  // `layout` says it. Throws Error.
  NestReading(const ChosenTrace& trace, std::optional<nest::Layout> layout);

  // Passes on only what is in this window of time, and perhaps more; an index beside the trace then
  // spares reading the rest. To be called first; returns whether that is so. Throws Error.
  bool narrow(const ChosenTrace& trace, const Selection& selection);

  // The order of the file is right, or must be taken as it comes. To be called first.
  void keep_file_order() { order_known_ = true; }

  // Looks for each engine's oldest record, once, unless the order is known: of a file that can be
  // read in as many places as there are engines. Returns whether the buffer had wrapped; then
  // advance() begins there. Offsets are always those of the file. Throws Error.
  bool had_wrapped();
  // Of each engine; 0: its part of the buffer had not wrapped.
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

  // Little is wanted: reads little at a time, but of one stream of two engines, whose order depends
  // on what is at hand.
  void read_little() {
    if (inputs_.size() == engines_) step_bytes_ = kLittleBytes;
  }

  // Reads further, and passes on what has its place; false at the end. A sink that has satisfied()
  // gets nothing more as soon as that is so.
  template <nest::EventSink Sink>
  bool advance(Sink& sink) {
    had_wrapped();
    const bool more = read_on();
    merge(sink);
    return more;
  }

  // Instead: reads further, and passes on the bytes as they are in the file, each time records of
  // one engine; false at the end.
  template <class Take>
  bool advance_records(const Take& take) {
    Engine& first = *engine_[0];
    std::span<const std::byte> piece = next_piece(0);
    for_each_line(piece, first.offset, take);
    first.offset += piece.size();
    return !piece.empty();
  }

  // How far the trace was read, by the engine that is furthest.
  uint64_t offset() const;
  // Of what was passed on by advance(), and of the filler before the beginning.
  nest::Statistics statistics();

 private:
  static constexpr size_t kPieceBytes = 256 << 10;  // in whole lines
  static constexpr size_t kLittleBytes = 4 << 10;

  struct Engine {
    nest::Decoder decoder;
    uint64_t offset = 0;               // in the file
    uint64_t until = Selection::kAny;  // no event from this offset on is needed
    uint64_t oldest = 0;     // of a part that had wrapped: what lies before it is read in the end
    bool in_newest = false;  // that is so
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

  // Takes the earliest event, over and over, while each engine that goes on has one; on a stream,
  // that cannot be read in two places, while any has one.
  template <nest::EventSink Sink>
  void merge(Sink& sink) {
    std::array<std::span<const nest::Event>, 2> ready;
    for (unsigned i = 0; i < engines_; i++) ready[i] = ready_of(*engine_[i]);
    std::array<const nest::Event*, 2> next = {ready[0].data(), ready[1].data()};
    const std::array<const nest::Event*, 2> end = {next[0] + ready[0].size(),
                                                   next[1] + ready[1].size()};
    while (next[0] != end[0] && next[1] != end[1] && !is_satisfied(sink)) {
      // Which is earlier no processor foresees: no branch.
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
  // It may yet give an event that is earlier than those of the other.
  bool waited_for(unsigned engine) const {
    return engine < engines_ && !engine_[engine]->ended && inputs_.size() > 1;
  }

  std::vector<InputFile> inputs_;  // one for each engine, or one for all
  std::vector<std::byte> piece_;
  size_t step_bytes_ = kPieceBytes;
  uint64_t filler_bytes_ = 0;         // before the beginning; whole pieces
  std::vector<std::byte> beginning_;  // what was read to judge the layout
  nest::LayoutEvidence evidence_;
  bool layout_given_;
  nest::Layout layout_;
  unsigned engines_ = 1;
  bool order_known_;
  std::array<std::unique_ptr<Engine>, 2> engine_;
};

// Where it begins in the file, for people; empty when its buffer had not wrapped.
std::string describe_wrap(NestReading& reading);

}  // namespace htmtrace

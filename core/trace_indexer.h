// SPDX-License-Identifier: GPL-2.0-or-later
// Decodes a trace once, to make an index of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/core_decoder.h"
#include "core/nest_decoder.h"
#include "core/trace_index.h"
#include "core/translation_map.h"

namespace htmtrace {

class CoreIndexer {
 public:
  // `interval_bytes` lie between two restarts, or more where none is possible, or where so many
  // pages were told that they would make the index large.
  explicit CoreIndexer(uint64_t interval_bytes)
      : interval_bytes_(interval_bytes), due_(interval_bytes), decoder_(map_, sink_) {}
  CoreIndexer(const CoreIndexer&) = delete;
  CoreIndexer& operator=(const CoreIndexer&) = delete;

  // The next bytes of the trace.
  void take(std::span<const std::byte> piece);

  // The trace has ended. What belongs to the file is left to the caller.
  CoreIndex finish();

  const CoreStatistics& statistics() const { return decoder_.statistics(); }

 private:
  struct Sink {
    void instruction(const Instruction&) {}
    void stamp(const Stamp& stamp);
    void defect(const Defect&) {}
    uint64_t ticks = 0;
    std::array<uint64_t, 1 << 12> marks;  // offset of the first of each value (12 bits)
    Sink() { marks.fill(Selection::kAny); }
  };

  bool may_begin_at(const WordRun& run) const;
  void note_restart(uint64_t offset);

  uint64_t interval_bytes_;
  uint64_t due_;  // offset
  uint64_t offset_ = 0;
  TranslationMap map_;  // none: addresses do not matter
  Sink sink_;
  CoreDecoder<Sink> decoder_;
  CoreIndex index_;
};

class NestIndexer {
 public:
  // Restarts lie between pieces, `interval_bytes` apart or more.
  NestIndexer(nest::Layout layout, unsigned engines, uint64_t interval_bytes);

  // The next bytes of the trace: but for the last, whole lines of all engines.
  void take(std::span<const std::byte> piece);

  // Likewise.
  NestIndex finish();

  nest::Statistics statistics();

 private:
  void note_restarts();
  void take_lines(std::span<const std::byte> piece);

  uint64_t interval_bytes_;
  uint64_t due_;  // offset
  uint64_t offset_ = 0;
  std::vector<nest::Decoder> decoders_;
  NestIndex index_;
};

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
// Decodes a trace once to build its index.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/core_trace/decoder.h"
#include "core/memory_map/translation.h"
#include "core/nest_trace/decoder.h"
#include "core/selection/index.h"

namespace htmtrace {

class CoreIndexer {
 public:
  // Two restarts are at least `interval_bytes` apart. The distance grows where no restart is
  // possible, or where many page changes would make the index large.
  explicit CoreIndexer(uint64_t interval_bytes)
      : interval_bytes_(interval_bytes), due_(interval_bytes), decoder_(map_, sink_) {}
  CoreIndexer(const CoreIndexer&) = delete;
  CoreIndexer& operator=(const CoreIndexer&) = delete;

  // Consumes the next bytes of the trace.
  void take(std::span<const std::byte> piece);

  // Ends the trace. The caller fills in the file's identity.
  CoreIndex finish();

  const CoreStatistics& statistics() const { return decoder_.statistics(); }
  // The restarts and pages of the bytes so far.
  const CoreIndex& so_far() const { return index_; }

 private:
  struct Sink {
    void instruction(const Instruction&) {}
    void stamp(const Stamp& stamp);
    void defect(const Defect&) {}
    uint64_t ticks = 0;
    std::array<uint64_t, 1 << 12> marks;  // offset of the first MARK of each value (12 bits)
    Sink() { marks.fill(Selection::kAny); }
  };

  bool may_begin_at(const WordRun& run) const;
  void note_restart(uint64_t offset);

  uint64_t interval_bytes_;
  uint64_t due_;  // offset of the next restart
  uint64_t offset_ = 0;
  TranslationMap map_;  // empty: the index does not depend on addresses
  Sink sink_;
  CoreDecoder<Sink> decoder_;
  CoreIndex index_;
};

class NestIndexer {
 public:
  // Restarts lie between pieces, at least `interval_bytes` apart.
  NestIndexer(nest::Layout layout, unsigned engines, uint64_t interval_bytes);

  // Consumes the next bytes of the trace. All pieces except the last hold whole lines of all
  // engines.
  void take(std::span<const std::byte> piece);

  // Ends the trace. The caller fills in the file's identity.
  NestIndex finish();

  nest::Statistics statistics();

 private:
  void note_restarts();
  void take_lines(std::span<const std::byte> piece);

  uint64_t interval_bytes_;
  uint64_t due_;  // offset of the next restarts
  uint64_t offset_ = 0;
  std::vector<nest::Decoder> decoders_;
  NestIndex index_;
};

}  // namespace htmtrace

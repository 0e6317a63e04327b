// SPDX-License-Identifier: GPL-2.0-or-later
// What a decoder saw in one trace. Every byte of the trace is counted in exactly one of the places
// that accounted_bytes() adds up.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/core_events.h"
#include "core/core_words.h"
#include "core/walk_statistics.h"

namespace htmtrace {

inline constexpr unsigned kGenerations = 2;

struct DefectSummary {
  static constexpr size_t kKept = 4;
  uint64_t count = 0;
  uint64_t size_bytes = 0;
  std::array<uint64_t, kKept> first_offsets{};  // min(count, kKept) of them

  void add(const DefectSummary& next);
  bool operator==(const DefectSummary&) const = default;
};

struct CoreStatistics {
  uint64_t bytes = 0;

  // Where the words went.
  uint64_t instruction_words = 0;
  uint64_t line_words = 0;  // IEARA
  uint64_t xlate_words = 0;
  uint64_t stamp_words = 0;  // with companions
  uint64_t filler_words = 0;
  uint64_t not_valid_words = 0;  // POWER8 records whose valid bit is clear
  uint64_t defective_bytes = 0;
  uint64_t accounted_bytes() const {
    return (instruction_words + line_words + xlate_words + stamp_words + filler_words +
            not_valid_words) *
               words::kWordBytes +
           defective_bytes;
  }

  // Instructions, by Generation where it says so.
  std::array<uint64_t, kGenerations> instructions{};
  uint64_t prefixed = 0;
  uint64_t branches = 0;
  uint64_t unrestored_branches = 0;  // opcode unknown
  uint64_t unknown_addresses = 0;    // instructions whose address is unknown
  uint64_t data_accesses = 0;
  uint64_t segment_operands = 0;  // ESID + VSID
  uint64_t lone_data_words = 0;   // POWER8: a real page without its effective address
  uint64_t not_valid_records = 0;
  uint64_t reserved_bits = 0;  // records with bits set that have only been seen clear

  // Where addresses could be translated to logical ones, of those with a known real address.
  uint64_t translated = 0;
  uint64_t untranslated = 0;

  uint64_t lines = 0;
  std::array<uint64_t, 2> xlates{};  // instruction side, data side
  uint64_t walk_words = 0;
  std::array<uint64_t, words::kWalkKinds> walk_kinds{};
  uint64_t walk_exceptions = 0;
  WalkStatistics walks;                // when they were followed
  uint64_t interrupted_groups = 0;     // XLATE or IEARA of instructions that did not complete
  uint64_t translation_evictions = 0;  // POWER8: translations forgotten for lack of room

  std::array<uint64_t, kStampKinds> stamps{};
  uint64_t companions = 0;
  uint64_t elapsed_ticks = 0;
  uint64_t elapsed_overflows = 0;
  uint64_t unknown_indications = 0;

  // Losses: the hardware says that it dropped these.
  uint64_t records_dropped = 0;           // at least
  uint64_t record_counter_overflows = 0;  // stamps that say the count above ran over
  uint64_t markers_dropped = 0;
  uint64_t responses_dropped = 0;
  uint64_t triggers_dropped = 0;
  uint64_t trace_full = 0;
  uint64_t loss_stamps = 0;  // stamps that tell any of these

  uint64_t unknown_words = 0;
  std::array<DefectSummary, kDefectReasons> defects{};

  uint64_t instruction_count() const { return instructions[0] + instructions[1]; }
  uint64_t defect_count() const {
    uint64_t sum = 0;
    for (const DefectSummary& defect : defects) sum += defect.count;
    return sum;
  }
  bool incomplete() const { return loss_stamps != 0 || defect_count() != 0; }
  // Bytes other than filler, but no record, and more unknown words than stamps, which other traces
  // have as well: hardly a core trace.
  bool no_tags() const {
    return instruction_words + line_words + xlate_words + not_valid_words == 0 &&
           filler_words * words::kWordBytes < bytes && unknown_words >= stamp_words;
  }

  void add(const Stamp& stamp);
  void add(const Defect& defect);
  // Of the next part of the same trace, decoded on its own; without walks.
  void add(const CoreStatistics& next);
  bool operator==(const CoreStatistics&) const = default;
};

}  // namespace htmtrace

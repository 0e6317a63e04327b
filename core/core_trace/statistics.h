// SPDX-License-Identifier: GPL-2.0-or-later
// Statistics of one decoded trace. Each byte of the trace counts in exactly one of the members that
// accounted_bytes() adds up.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/core_trace/events.h"
#include "core/core_trace/walk_statistics.h"
#include "core/core_trace/words.h"

namespace htmtrace {

inline constexpr unsigned kGenerations = 2;

struct DefectSummary {
  static constexpr size_t kKept = 4;
  uint64_t count = 0;
  uint64_t size_bytes = 0;
  std::array<uint64_t, kKept> first_offsets{};  // the first min(count, kKept) are valid

  void add(const DefectSummary& next);
  bool operator==(const DefectSummary&) const = default;
};

// Counts of one trace; all members are uint64_t or arrays of it (core/base/add_counts.h). A new
// count of instruction records needs only a member here and an entry in kInstructionCounts below.
struct CoreCounts {
  // Words by kind of record.
  uint64_t instruction_words = 0;
  uint64_t line_words = 0;  // IEARA
  uint64_t xlate_words = 0;
  uint64_t stamp_words = 0;  // with companions
  uint64_t filler_words = 0;
  uint64_t not_valid_words = 0;  // POWER8 records whose valid bit is clear
  uint64_t defective_bytes = 0;

  // Instructions; the array is indexed by Generation. No two counts that count_record() changes are
  // adjacent: the compiler would add them as a vector, which takes longer.
  std::array<uint64_t, kGenerations> instructions{};
  uint64_t prefixed = 0;
  uint64_t unknown_addresses = 0;  // instructions whose address is unknown
  uint64_t branches = 0;
  uint64_t unrestored_branches = 0;  // opcode unknown
  uint64_t data_accesses = 0;
  uint64_t lone_data_words = 0;   // POWER8: a real page without its effective address
  uint64_t segment_operands = 0;  // ESID + VSID
  uint64_t not_valid_records = 0;
  uint64_t reserved_bits = 0;  // records with set bits that are clear in every known trace

  // Known real addresses, with and without a logical address.
  uint64_t translated = 0;
  uint64_t untranslated = 0;

  uint64_t lines = 0;
  std::array<uint64_t, 2> xlates{};  // instruction side, data side
  uint64_t walk_words = 0;
  std::array<uint64_t, words::kWalkKinds> walk_kinds{};
  uint64_t walk_exceptions = 0;
  uint64_t interrupted_groups = 0;  // groups (XLATE or IEARA) of instructions that did not complete
  uint64_t translation_evictions = 0;  // POWER8: known pages that newer pages replaced

  std::array<uint64_t, kStampKinds> stamps{};
  uint64_t companions = 0;
  uint64_t elapsed_ticks = 0;
  uint64_t elapsed_overflows = 0;
  uint64_t unknown_indications = 0;

  // Losses that the hardware reports.
  uint64_t records_dropped = 0;           // a lower bound
  uint64_t record_counter_overflows = 0;  // stamps that report an overflow of records_dropped
  uint64_t markers_dropped = 0;
  uint64_t responses_dropped = 0;
  uint64_t triggers_dropped = 0;
  uint64_t trace_full = 0;
  uint64_t loss_stamps = 0;  // stamps that report any loss

  uint64_t unknown_words = 0;

  bool operator==(const CoreCounts&) const = default;
};

// The contents of an instruction's record that counts depend on.
struct RecordContents {
  bool branch = false;
  bool prefixed = false;
  bool segment = false;   // ESID and VSID
  unsigned accesses = 0;  // at most 2
};

// A count in the report of a trace.
struct InstructionCount {
  std::string_view name;  // indented: a part of the instructions
  uint64_t CoreCounts::*count;
  // The contribution of one record, at most kMostInRecord. Without it, the decoder counts elsewhere
  // than in core/core_trace/record_counts.h.
  std::optional<unsigned (*)(const RecordContents& record)> in_record = {};
  bool always = false;  // printed even if 0
};
inline constexpr unsigned kMostInRecord = 2;

// In the order of the report.
inline constexpr auto kInstructionCounts = std::to_array<InstructionCount>({
    {"  prefixed", &CoreCounts::prefixed,
     [](const RecordContents& record) { return record.prefixed ? 1U : 0U; }},
    {"  branches", &CoreCounts::branches,
     [](const RecordContents& record) { return record.branch ? 1U : 0U; }},
    {"  branches not restorable", &CoreCounts::unrestored_branches},
    {"  without known address", &CoreCounts::unknown_addresses},
    {"data accesses", &CoreCounts::data_accesses,
     [](const RecordContents& record) { return record.accesses; }, true},
    {"segment operands", &CoreCounts::segment_operands,
     [](const RecordContents& record) { return record.segment ? 1U : 0U; }},
    {"data words without address", &CoreCounts::lone_data_words},
    {"addresses translated", &CoreCounts::translated},
    {"addresses not translated", &CoreCounts::untranslated},
    {"lines entered", &CoreCounts::lines},
    {"not valid records", &CoreCounts::not_valid_records},
    {"POWER8 pages forgotten", &CoreCounts::translation_evictions},
});

struct CoreStatistics : CoreCounts {
  uint64_t bytes = 0;
  WalkStatistics walks;  // only if walks were enabled
  std::array<DefectSummary, kDefectReasons> defects{};

  uint64_t accounted_bytes() const {
    return (instruction_words + line_words + xlate_words + stamp_words + filler_words +
            not_valid_words) *
               words::kWordBytes +
           defective_bytes;
  }
  uint64_t instruction_count() const { return instructions[0] + instructions[1]; }
  uint64_t defect_count() const {
    uint64_t sum = 0;
    for (const DefectSummary& defect : defects) sum += defect.count;
    return sum;
  }
  bool incomplete() const { return loss_stamps != 0 || defect_count() != 0; }
  // The bytes are hardly a core trace: they hold no record, are not only filler, and have at least
  // as many unknown words as stamps. (Nest traces have stamps, too.)
  bool no_tags() const {
    return instruction_words + line_words + xlate_words + not_valid_words == 0 &&
           filler_words * words::kWordBytes < bytes && unknown_words >= stamp_words;
  }

  void add(const Stamp& stamp);
  void add(const Defect& defect);
  // Adds the statistics of the next part of the same trace, decoded separately; excludes walks.
  void add(const CoreStatistics& next);
  bool operator==(const CoreStatistics&) const = default;
};

}  // namespace htmtrace

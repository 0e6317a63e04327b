// SPDX-License-Identifier: GPL-2.0-or-later
// Counts the contents of instruction records as kInstructionCounts (statistics.h) declares.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/core_trace/statistics.h"
#include "core/core_trace/words.h"

namespace htmtrace {

// ---- One record

// Adds the counts of one record. (The recursion unrolls the loop, so that the compiler knows each
// count.)
template <size_t kFirst = 0>
[[gnu::always_inline]] inline void count_record(const RecordContents& record, CoreCounts& counts) {
  constexpr InstructionCount kCount = kInstructionCounts[kFirst];
  if constexpr (kCount.in_record) counts.*kCount.count += (*kCount.in_record)(record);
  if constexpr (kFirst + 1 < kInstructionCounts.size()) count_record<kFirst + 1>(record, counts);
}

// ---- A run of whole POWER10 records
//
// A fast path cannot keep a register for each count. It adds up one number for each record. The
// lowest field of the sum holds the number of records, and each further field holds one count.

inline constexpr size_t kSummedCounts = [] {
  size_t summed = 0;
  for (const InstructionCount& count : kInstructionCounts) summed += count.in_record ? 1 : 0;
  return summed;
}();
inline constexpr auto kSumBits = static_cast<unsigned>(64 / (1 + kSummedCounts));
inline constexpr uint64_t kSumField = (uint64_t{1} << kSumBits) - 1;
// The sum of this many records cannot overflow a field.
inline constexpr uint64_t kMostSummed = kSumField / kMostInRecord;
static_assert(kMostSummed >= 500, "runs are too short to be fast: use a second number");

constexpr uint64_t sums_of(const RecordContents& record) {
  uint64_t sums = 1;
  unsigned shift = 0;
  for (const InstructionCount& count : kInstructionCounts) {
    if (count.in_record) sums |= uint64_t{(*count.in_record)(record)} << (shift += kSumBits);
  }
  return sums;
}

constexpr uint64_t records_in(uint64_t sums) {
  return sums & kSumField;
}

// The sum of one count of records.
template <uint64_t CoreCounts::*kCount>
constexpr uint64_t count_in(uint64_t sums) {
  constexpr unsigned kShift = [] {
    unsigned shift = 0;
    for (const InstructionCount& count : kInstructionCounts) {
      shift += count.in_record ? kSumBits : 0;
      if (count.count == kCount) break;
    }
    return shift;
  }();
  return sums >> kShift & kSumField;
}

// Adds the sums to the counts.
template <size_t kFirst = 0>
[[gnu::always_inline]] inline void add_sums(uint64_t sums, CoreCounts& counts) {
  constexpr InstructionCount kCount = kInstructionCounts[kFirst];
  if constexpr (kCount.in_record) counts.*kCount.count += count_in<kCount.count>(sums);
  if constexpr (kFirst + 1 < kInstructionCounts.size()) add_sums<kFirst + 1>(sums, counts);
}

constexpr RecordContents contents_of_info(uint64_t info) {
  const unsigned operands = words::info10_operands(info);
  const bool segment = operands == words::kSegmentOperands;
  return {.branch = words::info_branch(info),
          .prefixed = words::info10_prefixed(info),
          .segment = segment,
          .accesses = segment ? 0 : operands};
}

// sums_of() by words::info10_kind().
inline constexpr auto kInfoSums = [] {
  std::array<uint64_t, words::kInfo10Kinds> sums{};
  for (unsigned kind = 0; kind < sums.size(); kind++) {
    sums[kind] = sums_of(contents_of_info(words::info10_of_kind(kind)));
  }
  return sums;
}();

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
// The fast path of the decoder. Nearly all records of a POWER10 trace are consecutive whole INFOs
// and IEARAs that yield no event except the instruction. The path yields the same events as
// CoreDecoder in less than half of the time.
//
// The speed requires that no address of a loop variable leaves the loop. Then an instruction stays
// in registers, and the compiler drops fields that the sink does not read. All functions that
// accept an Instruction& are therefore inlined by force. A sink should inline instruction() in the
// same way and pass only values on. (A sink writes text through a char*. The compiler must assume
// that such a write changes any variable in memory.)
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/core_trace/branch_recoding.h"
#include "core/core_trace/events.h"
#include "core/core_trace/framing.h"
#include "core/core_trace/power10_stream.h"
#include "core/core_trace/record_counts.h"
#include "core/core_trace/sink.h"
#include "core/core_trace/statistics.h"
#include "core/core_trace/words.h"
#include "core/memory_map/translation.h"

namespace htmtrace {

// Sets the logical address of `place` (an Instruction or a DataAccess). Returns false if no range
// holds the real address.
template <class Place>
[[gnu::always_inline]] inline bool translate(TranslationMap::Cursor& cursor, Place& place) {
  const TranslationMap::Range* const range = cursor.find(place.ra);
  place.has_la = range != nullptr;
  if (range != nullptr) [[likely]]
    place.la = range->translate(place.ra);
  return place.has_la;
}

// Translates and counts all addresses of the instruction.
[[gnu::always_inline]] inline void translate_all(TranslationMap::Cursor& cursor,
                                                 TranslationMap::Cursor& data_cursor,
                                                 Instruction& instruction,
                                                 CoreStatistics& statistics) {
  const auto count = [&statistics](bool translated) {
    (translated ? statistics.translated : statistics.untranslated)++;
  };
  if (instruction.has_ra) [[likely]]
    count(translate(cursor, instruction));
  for (unsigned i = 0; i < instruction.data_count; i++) {
    DataAccess& data = instruction.data[i];
    if (data.has_ra) count(translate(data_cursor, data));
  }
}

struct PlainRecords {
  uint64_t instructions = 0;
  size_t words = 0;
};

struct PlainStart {
  uint64_t offset = 0;          // offset of the run in the trace
  uint64_t most = 0;            // maximum number of instructions
  bool stops_at_walks = false;  // the decoder follows walks: no path may consume them
};

// Decoder state that the fast path updates.
struct PlainState {
  Power10Stream& stream;                       // must be in_line()
  TranslationMap::Cursor& instruction_cursor;  // of a map in whole pages
  TranslationMap::Cursor& data_cursor;         // of the same map
  CoreStatistics& statistics;  // the path updates all counts except the number of instructions
};

namespace plain {

inline constexpr size_t kPairBytes = 2 * words::kWordBytes;

// Counters accumulated over a run of plain records.
struct Row {
  Power10Line line;
  uint64_t sums = 0;  // sums_of() of the instructions' records
  uint64_t untranslated = 0;
  uint64_t lines = 0;
  uint64_t interrupted = 0;
};

// The number of real addresses: one for each instruction and one for each data access.
constexpr uint64_t addresses_in(uint64_t sums) {
  return records_in(sums) + count_in<&CoreCounts::data_accesses>(sums);
}

// `words` is the length of the run. Accepts a copy, so that the caller's row stays in registers.
inline void add(Row row, size_t words, CoreStatistics& statistics) {
  const size_t line_words = row.lines * words::kIearaWords;
  statistics.line_words += line_words;
  statistics.instruction_words += words - line_words;
  statistics.lines += row.lines;
  statistics.interrupted_groups += row.interrupted;
  statistics.untranslated += row.untranslated;
  statistics.translated += addresses_in(row.sums) - row.untranslated;
  add_sums(row.sums, statistics);
}

// Makes the line of the IEARA at `at` the current line.
[[gnu::always_inline]] inline void enter_line(const std::byte* at, Row& row) {
  row.interrupted += row.line.ends_group ? 1 : 0;
  row.lines++;
  row.line = Power10Line::entered(at);
}

// The logical address of a line's real page.
struct LogicalPage {
  uint64_t ahead = 0;    // distance from the real page to the logical page
  uint64_t missing = 1;  // 1: the logical address is unknown
};

[[gnu::always_inline]] inline LogicalPage logical_page(TranslationMap::Cursor& cursor,
                                                       uint64_t page) {
  const TranslationMap::Range* const range = cursor.find(RealAddr{page});
  if (range == nullptr) return {};
  return {range->logical - range->real, 0};
}

// Reads the access whose two words are at `at`. Returns false if the words are ambiguous.
[[gnu::always_inline]] inline bool take_access(const std::byte* at, TranslationMap::Cursor& cursor,
                                               DataAccess& access) {
  const uint64_t address = load_be64(at);
  const uint64_t page = load_be64(at + words::kWordBytes);
  if (is_special(address) || !words::is_plain_dra10(page)) [[unlikely]]
    return false;
  access.ea = EffectiveAddr{address};
  access.ra = RealAddr{words::dra10_page(page) | (address & kPower10PageOffset)};
  access.has_ra = true;
  translate(cursor, access);
  return true;
}

// Reads the words after INFO and MSR if the record holds more than one access. Returns the end of
// the record, or null for an ambiguous record.
[[gnu::always_inline]] inline const std::byte* take_rest(const std::byte* at, uint64_t info,
                                                         TranslationMap::Cursor& cursor,
                                                         uint64_t& untranslated,
                                                         Instruction& instruction) {
  if (words::info10_prefixed(info)) {
    const uint64_t prefix = load_be64(at);
    if (is_special(prefix)) return nullptr;
    instruction.prefix = words::opcode(prefix);
    instruction.has_prefix = true;
    at += words::kWordBytes;
  }
  const unsigned operands = words::info10_operands(info);
  if (operands == words::kSegmentOperands) {
    if (is_special(load_be64(at)) || is_special(load_be64(at + words::kWordBytes))) return nullptr;
    at += kPairBytes;
  } else {
    // No loop: an indexed array would force the accesses into memory.
    if (operands > 0 && !take_access(at, cursor, instruction.data[0])) return nullptr;
    if (operands > 1 && !take_access(at + kPairBytes, cursor, instruction.data[1])) return nullptr;
    at += operands * kPairBytes;
    instruction.data_count = static_cast<uint8_t>(operands);
    untranslated += operands > 0 && !instruction.data[0].has_la ? 1 : 0;
    untranslated += operands > 1 && !instruction.data[1].has_la ? 1 : 0;
  }
  return at;
}

}  // namespace plain

// The maximum number of words for one pass: they hold at most `most` instructions, and no sum of
// their records overflows.
inline size_t words_to_sum(const WordRun& run, uint64_t most) {
  constexpr size_t kLeastWords = 2;  // INFO, MSR
  return std::min<uint64_t>(run.count, kLeastWords * std::min(most, kMostSummed));
}

// Consumes the plain records at the start of `run`, which must be in sync, and passes their
// instructions to `sink`. Stops before the first record that is ambiguous or may extend past the
// run. (gnu::hot: otherwise the compiler optimizes the rare branches for size.)
template <class Sink>
[[gnu::hot]] PlainRecords decode_plain_records(const WordRun& run, PlainStart start,
                                               PlainState state, Sink& sink) {
  constexpr size_t kMostWords = 7;  // INFO, MSR, prefix, two pairs
  const size_t count = words_to_sum(run, start.most);
  if (count < kMostWords) return {};
  const std::byte* at = run.words;
  const std::byte* const last = at + (count - kMostWords) * words::kWordBytes;
  plain::Row row{.line = state.stream.line()};
  plain::LogicalPage logical = plain::logical_page(state.instruction_cursor, row.line.page);
  Instruction instruction;  // absent fields keep stale values, which saves time
  while (at <= last) {
    const uint64_t info = load_be64(at);
    if (!words::is_info10(info)) [[unlikely]] {
      if (!is_plain_line(at)) break;
      plain::enter_line(at, row);
      logical = plain::logical_page(state.instruction_cursor, row.line.page);
      at += words::kIearaWords * words::kWordBytes;
      continue;
    }
    const uint64_t msr = load_be64(at + words::kWordBytes);
    if (!words::msr_tail_clear(msr)) [[unlikely]]
      break;
    instruction.clear();
    row.line.put_place(info, instruction);
    put_work(info, msr, instruction);
    instruction.offset = start.offset + static_cast<uint64_t>(at - run.words);
    instruction.has_la = logical.missing == 0;
    instruction.la = LogicalAddr{instruction.ra.value + logical.ahead};
    unsigned kind = 0;
    if (words::info_branch(info)) {
      restore_branch(instruction, restore_power10_branch);
      if (!instruction.has_opcode) [[unlikely]]
        break;
      kind = words::kInfo10BranchKind;
    }
    // Each kind of record has its own copy of the sink's code. In each copy, the compiler knows the
    // absent fields and drops their code.
    const std::byte* const behind = at + 2 * words::kWordBytes;
    const unsigned operands = words::info10_operands(info);
    if (words::info10_prefixed(info) || operands > 1) [[unlikely]] {
      const std::byte* const end =
          plain::take_rest(behind, info, state.data_cursor, row.untranslated, instruction);
      if (end == nullptr) break;
      at = end;
      row.sums += kInfoSums[words::info10_kind(info)];
      sink.instruction(instruction);
    } else if (operands == 0) {
      at = behind;
      row.sums += kInfoSums[kind];
      sink.instruction(instruction);
    } else {
      if (!plain::take_access(behind, state.data_cursor, instruction.data[0])) [[unlikely]]
        break;
      instruction.data_count = 1;
      row.untranslated += instruction.data[0].has_la ? 0 : 1;
      at = behind + plain::kPairBytes;
      row.sums += kInfoSums[kind + 1];
      sink.instruction(instruction);
    }
    row.line.ends_group = false;
    row.untranslated += logical.missing;
    if (is_satisfied(sink)) break;
  }
  const auto words = static_cast<size_t>(at - run.words) / words::kWordBytes;
  plain::add(row, words, state.statistics);
  state.stream.set_line(row.line);
  return {records_in(row.sums), words};
}

}  // namespace htmtrace

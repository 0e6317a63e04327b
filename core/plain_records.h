// SPDX-License-Identifier: GPL-2.0-or-later
// The fast path of the decoder: nearly all records of a POWER10 trace are whole INFOs and IEARAs,
// one behind the other, of which nothing is to be told but the instruction. They give what
// CoreDecoder makes of each alone, in less than half of the time.
//
// That is so if nothing in the loop has an address that leaves it: then an instruction never is in
// memory, and what nobody reads of it is not even made. All that takes an Instruction& is inlined
// by force for that, and a sink should do the same with instruction(), and hand only values on.
// (Text is written through a char*, behind which the compiler must expect anything that is in
// memory.)
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/branch_recoding.h"
#include "core/core_events.h"
#include "core/core_statistics.h"
#include "core/core_words.h"
#include "core/framing.h"
#include "core/power10_stream.h"
#include "core/translation_map.h"

namespace htmtrace {

// Gives `place` (an Instruction or a DataAccess) its logical address. False: its real one is in no
// range.
template <class Place>
[[gnu::always_inline]] inline bool translate(TranslationMap::Cursor& cursor, Place& place) {
  const TranslationMap::Range* const range = cursor.find(place.ra);
  place.has_la = range != nullptr;
  if (range != nullptr) [[likely]]
    place.la = range->translate(place.ra);
  return place.has_la;
}

// All that the instruction tells, counted.
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
  uint64_t offset = 0;  // of the run, in the trace
  uint64_t most = 0;    // instructions
};

// Of the decoder.
struct PlainState {
  Power10Stream& stream;                       // in_line()
  TranslationMap::Cursor& instruction_cursor;  // of a map in whole pages
  TranslationMap::Cursor& data_cursor;         // of the same
  CoreStatistics& statistics;                  // all but the number of instructions is counted
};

namespace plain {

inline constexpr size_t kPairBytes = 2 * words::kWordBytes;

// What a row of records has come to.
struct Row {
  Power10Line line;
  uint64_t instructions = 0;
  uint64_t data_accesses = 0;
  uint64_t untranslated = 0;
  uint64_t branches = 0;
  uint64_t prefixed = 0;
  uint64_t segment_operands = 0;
  uint64_t lines = 0;
  uint64_t interrupted = 0;
};

inline void add(const Row& row, size_t words, CoreStatistics& statistics) {
  const size_t line_words = row.lines * words::kIearaWords;
  statistics.line_words += line_words;
  statistics.instruction_words += words - line_words;
  statistics.lines += row.lines;
  statistics.interrupted_groups += row.interrupted;
  statistics.branches += row.branches;
  statistics.prefixed += row.prefixed;
  statistics.data_accesses += row.data_accesses;
  statistics.segment_operands += row.segment_operands;
  statistics.untranslated += row.untranslated;
  statistics.translated += row.instructions + row.data_accesses - row.untranslated;
}

// Where the real page of a line is to the partition.
struct LogicalPage {
  uint64_t ahead = 0;    // of the real page
  uint64_t missing = 1;  // 1: it is not known
};

[[gnu::always_inline]] inline LogicalPage logical_page(TranslationMap::Cursor& cursor,
                                                       uint64_t page) {
  const TranslationMap::Range* const range = cursor.find(RealAddr{page});
  if (range == nullptr) return {};
  return {range->logical - range->real, 0};
}

// The access whose two words are at `at`. False: they must be looked at twice.
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

// What is behind INFO and MSR where that is more than an access. Returns the end of the record;
// null: it must be looked at twice.
[[gnu::always_inline]] inline const std::byte* take_rest(const std::byte* at, uint64_t info,
                                                         TranslationMap::Cursor& cursor, Row& row,
                                                         Instruction& instruction) {
  if (words::info10_prefixed(info)) {
    const uint64_t prefix = load_be64(at);
    if (is_special(prefix)) return nullptr;
    instruction.prefix = words::opcode(prefix);
    instruction.has_prefix = true;
    at += words::kWordBytes;
  }
  const unsigned operands = words::info10_operands(info);
  const bool segment = operands == words::kSegmentOperands;
  if (segment) {
    if (is_special(load_be64(at)) || is_special(load_be64(at + words::kWordBytes))) return nullptr;
    at += kPairBytes;
  } else {
    // No loop: what has a place by number must be in memory.
    if (operands > 0 && !take_access(at, cursor, instruction.data[0])) return nullptr;
    if (operands > 1 && !take_access(at + kPairBytes, cursor, instruction.data[1])) return nullptr;
    at += operands * kPairBytes;
    instruction.data_count = static_cast<uint8_t>(operands);
    row.data_accesses += operands;
    row.untranslated += operands > 0 && !instruction.data[0].has_la ? 1 : 0;
    row.untranslated += operands > 1 && !instruction.data[1].has_la ? 1 : 0;
  }
  row.segment_operands += segment ? 1 : 0;
  row.prefixed += instruction.has_prefix ? 1 : 0;
  return at;
}

}  // namespace plain

// Takes as many such records as `run` begins with, which is in step, and hands their instructions
// to `sink`. It ends before the first record that asks for more care or may reach beyond the run.
// (Hot: else the compiler makes small, instead of fast, what it guesses to be rare.)
template <class Sink>
[[gnu::hot]] PlainRecords decode_plain_records(const WordRun& run, PlainStart start,
                                               PlainState state, Sink& sink) {
  constexpr size_t kMostWords = 7;  // INFO, MSR, prefix, two pairs
  if (run.count < kMostWords) return {};
  const std::byte* at = run.words;
  const std::byte* const last = at + (run.count - kMostWords) * words::kWordBytes;
  plain::Row row{.line = state.stream.line()};
  plain::LogicalPage logical = plain::logical_page(state.instruction_cursor, row.line.page);
  Instruction instruction;  // what one does not have stays from one before, which costs nothing
  while (at <= last && row.instructions < start.most) {
    const uint64_t info = load_be64(at);
    if (!words::is_info10(info)) [[unlikely]] {
      if (!is_plain_line(at)) break;
      row.interrupted += row.line.ends_group ? 1 : 0;
      row.lines++;
      row.line = Power10Line::entered(at);
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
    if (words::info_branch(info)) {
      restore_branch(instruction, restore_power10_branch);
      if (!instruction.has_opcode) [[unlikely]]
        break;
    }
    // The sink's code stands here for each kind of records: where it is known what an instruction
    // has, nothing is done about what it does not have.
    const std::byte* const behind = at + 2 * words::kWordBytes;
    const unsigned operands = words::info10_operands(info);
    if (words::info10_prefixed(info) || operands > 1) [[unlikely]] {
      const std::byte* const end =
          plain::take_rest(behind, info, state.data_cursor, row, instruction);
      if (end == nullptr) break;
      at = end;
      sink.instruction(instruction);
    } else if (operands == 0) {
      at = behind;
      sink.instruction(instruction);
    } else {
      if (!plain::take_access(behind, state.data_cursor, instruction.data[0])) [[unlikely]]
        break;
      instruction.data_count = 1;
      row.data_accesses++;
      row.untranslated += instruction.data[0].has_la ? 0 : 1;
      at = behind + plain::kPairBytes;
      sink.instruction(instruction);
    }
    row.line.ends_group = false;
    row.branches += words::info_branch(info) ? 1U : 0U;
    row.untranslated += logical.missing;
    row.instructions++;
    if constexpr (requires { sink.satisfied(); }) {
      if (sink.satisfied()) break;
    }
  }
  const auto words = static_cast<size_t>(at - run.words) / words::kWordBytes;
  plain::add(row, words, state.statistics);
  state.stream.set_line(row.line);
  return {row.instructions, words};
}

}  // namespace htmtrace

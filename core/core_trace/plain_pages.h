// SPDX-License-Identifier: GPL-2.0-or-later
// The fast path of a decoder whose sink accepts runs of instructions by page. The results equal
// those of decode_plain_records, but most records need no Instruction. The path does the work that
// a line of 128 bytes shares once, at the start of the line.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/core_trace/plain_records.h"
#include "core/core_trace/plain_walks.h"

namespace htmtrace {

namespace plain {

// One number holds the counts of instructions, accesses and branches of a run.
inline constexpr size_t kMostRowWords = size_t{1} << 20;
inline constexpr unsigned kSumBits = 21;
inline constexpr uint64_t kOneAccess = uint64_t{1} << kSumBits;
inline constexpr uint64_t kOneBranch = uint64_t{1} << 2 * kSumBits;
constexpr uint64_t instructions_in(uint64_t sums) {
  return sums & (kOneAccess - 1);
}

// The state that all instructions of a line share.
struct LinePlace {
  Power10Line line;
  LogicalPage logical;
  uint64_t instructions_before = 0;  // counted instructions of the run

  [[gnu::always_inline]] void enter(const Power10Line& entered, TranslationMap::Cursor& cursor) {
    line = entered;
    logical = logical_page(cursor, line.page);
  }
  // `instructions` is the number of instructions in the run so far.
  [[gnu::always_inline]] void leave(uint64_t instructions, Row& row) {
    const uint64_t inside = instructions - instructions_before;
    line.ends_group = line.ends_group && inside == 0;
    row.untranslated += inside * logical.missing;
    instructions_before = instructions;
  }
};

template <class Rows>
[[gnu::always_inline]] inline void enter_page(const LinePlace& place, Rows& rows) {
  const uint64_t ra = place.line.page | (place.line.address & kPower10PageOffset);
  rows.enter(EffectiveAddr{place.line.address}, RealAddr{ra}, LogicalAddr{ra + place.logical.ahead},
             place.logical.missing == 0);
}

// Passes the instruction at `at`, in any kind of record, to the sink. Returns the end of the
// record, or null for an ambiguous record.
template <class Sink>
[[gnu::noinline]] const std::byte* decode_other_record(const std::byte* at, const LinePlace& place,
                                                       uint32_t opcode,
                                                       TranslationMap::Cursor& cursor, Row& row,
                                                       Sink& sink) {
  const uint64_t info = load_be64(at);
  Instruction instruction;
  place.line.put_place(info, instruction);
  instruction.opcode = opcode;
  instruction.has_opcode = true;
  instruction.has_la = place.logical.missing == 0;
  instruction.la = LogicalAddr{instruction.ra.value + place.logical.ahead};
  const std::byte* const end = take_rest(at + kPairBytes, info, cursor, row, instruction);
  if (end != nullptr) sink.instruction(instruction);
  return end;
}

}  // namespace plain

// Consumes the plain records at the start of `run`, like decode_plain_records.
template <HasRows Sink>
[[gnu::hot]] PlainRecords decode_plain_pages(const WordRun& run, PlainState state, Sink& sink) {
  constexpr size_t kMostWords = 7;  // INFO, MSR, prefix, two pairs
  if (run.count < kMostWords) return {};
  const size_t count = std::min(run.count, plain::kMostRowWords);
  const std::byte* at = run.words;
  const std::byte* const last = at + (count - kMostWords) * words::kWordBytes;
  plain::Row row, others;  // `others` is in memory
  uint64_t sums = 0;
  size_t walk_words = 0;  // with the lines of the walks; already counted
  plain::LinePlace place;
  place.enter(state.stream.line(), state.instruction_cursor);
  typename Sink::Rows rows(sink);
  plain::enter_page(place, rows);
  while (at <= last) {
    const uint64_t info = load_be64(at);
    if (!words::is_info10(info)) [[unlikely]] {
      place.leave(plain::instructions_in(sums), row);
      if (is_plain_line(at)) [[likely]] {
        row.interrupted += place.line.ends_group ? 1 : 0;
        row.lines++;
        place.line = Power10Line::entered(at);
        at += words::kIearaWords * words::kWordBytes;
      } else {
        state.stream.set_line(place.line);
        const size_t taken = take_plain_walks(run.from(at), state.stream, state.statistics);
        place.line = state.stream.line();
        if (taken == 0) break;
        at += taken * words::kWordBytes;
        walk_words += taken;
        if (!state.stream.in_line()) break;
      }
      place.enter(place.line, state.instruction_cursor);
      plain::enter_page(place, rows);
      continue;
    }
    if (!words::msr_tail_clear(load_be64(at + words::kWordBytes))) [[unlikely]]
      break;
    const uint64_t address = place.line.address | words::info10_line_offset(info);
    uint32_t opcode = words::opcode(info);
    uint64_t one = 1;
    if (words::info_branch(info)) {
      const auto restored = restore_power10_branch(opcode, EffectiveAddr{address});
      if (!restored) [[unlikely]]
        break;
      opcode = *restored;
      one |= plain::kOneBranch;
    }
    const unsigned operands = words::info10_operands(info);
    if (words::info10_prefixed(info) || operands > 1) [[unlikely]] {
      rows.finish();
      const std::byte* const end =
          plain::decode_other_record(at, place, opcode, state.data_cursor, others, sink);
      if (end == nullptr) break;
      at = end;
      rows = typename Sink::Rows(sink);
      plain::enter_page(place, rows);
    } else if (operands == 0) {
      rows.instruction(address, opcode);
      at += plain::kPairBytes;
    } else {
      DataAccess access;
      if (!plain::take_access(at + plain::kPairBytes, state.data_cursor, access)) [[unlikely]]
        break;
      rows.instruction(address, opcode, access);
      row.untranslated += access.has_la ? 0 : 1;
      one |= plain::kOneAccess;
      at += 2 * plain::kPairBytes;
    }
    sums += one;
  }
  rows.finish();
  row.instructions = plain::instructions_in(sums);
  place.leave(row.instructions, row);
  row.branches = sums / plain::kOneBranch;
  row.data_accesses = plain::instructions_in(sums / plain::kOneAccess) + others.data_accesses;
  row.untranslated += others.untranslated;
  row.prefixed = others.prefixed;
  row.segment_operands = others.segment_operands;
  const auto words = static_cast<size_t>(at - run.words) / words::kWordBytes;
  plain::add(row, words - walk_words, state.statistics);
  state.stream.set_line(place.line);
  return {row.instructions, words};
}

}  // namespace htmtrace

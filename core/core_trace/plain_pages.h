// SPDX-License-Identifier: GPL-2.0-or-later
// The fast path of a decoder whose sink accepts runs of instructions by page. The results equal
// those of decode_plain_records, but most records need no Instruction. The path does the work that
// a line of 128 bytes shares once, at the start of the line.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/core_trace/plain_records.h"
#include "core/core_trace/plain_walks.h"

namespace htmtrace {

namespace plain {

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
// record, or null for an ambiguous record. Accepts a copy of `place`, so that the caller's place
// stays in registers.
template <class Sink>
[[gnu::noinline]] const std::byte* decode_other_record(const std::byte* at, LinePlace place,
                                                       uint32_t opcode,
                                                       TranslationMap::Cursor& cursor,
                                                       uint64_t& untranslated, Sink& sink) {
  const uint64_t info = load_be64(at);
  Instruction instruction;
  place.line.put_place(info, instruction);
  put_work(info, load_be64(at + words::kWordBytes), instruction);
  instruction.opcode = opcode;
  instruction.has_la = place.logical.missing == 0;
  instruction.la = LogicalAddr{instruction.ra.value + place.logical.ahead};
  const std::byte* const end = take_rest(at + kPairBytes, info, cursor, untranslated, instruction);
  if (end != nullptr) sink.instruction(instruction);
  return end;
}

}  // namespace plain

// Consumes the plain records at the start of `run`, at most `most` instructions, like
// decode_plain_records. `Rows` is the sink's Rows or NamedRows. With `kStopsAtWalks`, the path
// stops before each walk instead of counting it. `kStopsAtWalks` is a template parameter, because a
// variable would cost text output a third of its speed.
template <class Rows, bool kStopsAtWalks, class Sink>
[[gnu::hot]] PlainRecords decode_plain_pages(const WordRun& run, uint64_t most, PlainState state,
                                             Sink& sink) {
  constexpr size_t kMostWords = 7;  // INFO, MSR, prefix, two pairs
  const size_t count = words_to_sum(run, most);
  if (count < kMostWords) return {};
  const std::byte* at = run.words;
  const std::byte* const last = at + (count - kMostWords) * words::kWordBytes;
  plain::Row row;
  uint64_t others_untranslated = 0;  // its address leaves the loop, unlike that of `row`
  size_t walk_words = 0;             // words that take_plain_walks() has consumed and counted
  plain::LinePlace place;
  place.enter(state.stream.line(), state.instruction_cursor);
  Rows rows(sink);
  plain::enter_page(place, rows);
  while (at <= last) {
    const uint64_t info = load_be64(at);
    if (!words::is_info10(info)) [[unlikely]] {
      place.leave(records_in(row.sums), row);
      if (is_plain_line(at)) [[likely]] {
        row.interrupted += place.line.ends_group ? 1 : 0;
        row.lines++;
        place.line = Power10Line::entered(at);
        at += words::kIearaWords * words::kWordBytes;
      } else {
        if constexpr (kStopsAtWalks) break;
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
    const uint64_t msr = load_be64(at + words::kWordBytes);
    if (!words::msr_tail_clear(msr)) [[unlikely]]
      break;
    const auto modes = static_cast<uint16_t>(words::msr_modes(msr));
    const EffectiveAddr address{place.line.address | words::info10_line_offset(info)};
    uint32_t opcode = words::opcode(info);
    unsigned kind = 0;
    if (words::info_branch(info)) {
      const auto restored = restore_power10_branch(opcode, address);
      if (!restored) [[unlikely]]
        break;
      opcode = *restored;
      kind = words::kInfo10BranchKind;
    }
    const unsigned operands = words::info10_operands(info);
    if (words::info10_prefixed(info) || operands > 1) [[unlikely]] {
      rows.finish();
      const std::byte* const end = plain::decode_other_record(at, place, opcode, state.data_cursor,
                                                              others_untranslated, sink);
      if (end == nullptr) break;
      at = end;
      row.sums += kInfoSums[words::info10_kind(info)];
      rows = Rows(sink);
      plain::enter_page(place, rows);
    } else if (operands == 0) {
      rows.instruction(address, opcode, modes);
      at += plain::kPairBytes;
      row.sums += kInfoSums[kind];
    } else {
      DataAccess access;
      if (!plain::take_access(at + plain::kPairBytes, state.data_cursor, access)) [[unlikely]]
        break;
      rows.instruction(address, opcode, modes, access);
      row.untranslated += access.has_la ? 0 : 1;
      at += 2 * plain::kPairBytes;
      row.sums += kInfoSums[kind + 1];
    }
  }
  rows.finish();
  place.leave(records_in(row.sums), row);
  row.untranslated += others_untranslated;
  const auto words = static_cast<size_t>(at - run.words) / words::kWordBytes;
  plain::add(row, words - walk_words, state.statistics);
  state.stream.set_line(place.line);
  return {records_in(row.sums), words};
}

}  // namespace htmtrace

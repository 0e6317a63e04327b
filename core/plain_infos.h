// SPDX-License-Identifier: GPL-2.0-or-later
// The fast path of the decoder: nine of ten records of a POWER10 trace are whole INFOs, one behind
// the other, of which nothing is to be told but the instruction. They give what CoreDecoder makes
// of each alone, at half the cost: what cannot change between them is looked at once for all.
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

// A whole INFO of `words` words without anything that must be looked at twice is at `at`.
[[gnu::always_inline]] inline bool is_plain_info(const std::byte* at, size_t words) {
  bool special = !words::msr_tail_clear(load_be64(at + words::kWordBytes));
  for (size_t i = 2; i < words; i++) special |= is_special(load_be64(at + i * words::kWordBytes));
  return !special;
}

struct PlainInfos {
  uint64_t instructions = 0;
  size_t words = 0;
};

struct PlainStart {
  uint64_t offset = 0;  // of the run, in the trace
  uint64_t most = 0;    // instructions
};

// Of the decoder.
struct PlainState {
  Power10Stream& stream;  // settled()
  TranslationMap::Cursor& instruction_cursor;
  TranslationMap::Cursor& data_cursor;
  CoreStatistics& statistics;  // all but the number of instructions is counted
  Instruction& instruction;    // room for one
};

// Takes as many such records as `run` begins with, which is in step, and hands their instructions
// to `sink`. It ends before the first record that asks for more care.
template <class Sink>
PlainInfos decode_plain_infos(const WordRun& run, PlainStart start, PlainState state, Sink& sink) {
  Instruction& instruction = state.instruction;
  CoreStatistics& counts = state.statistics;
  const std::byte* at = run.words;
  const std::byte* const end = at + run.count * words::kWordBytes;
  const auto left = [&] { return static_cast<size_t>(end - at) / words::kWordBytes; };
  uint64_t instructions = 0, places = 0, translated = 0;
  while (instructions < start.most && left() >= 2) {
    const uint64_t info = load_be64(at);
    if (!words::is_info10(info)) break;
    const size_t needed = power10_info_words(info);
    if (left() < needed || !is_plain_info(at, needed)) break;
    state.stream.take_plain_info(at, info, instruction);
    if (words::info_branch(info)) {
      restore_branch(instruction, restore_power10_branch);
      if (!instruction.has_opcode) [[unlikely]]
        break;
      counts.branches++;
    }
    instruction.offset = start.offset + static_cast<uint64_t>(at - run.words);
    translated += translate(state.instruction_cursor, instruction) ? 1 : 0;
    places++;
    if (needed != 2) {
      for (unsigned i = 0; i < instruction.data_count; i++) {
        translated += translate(state.data_cursor, instruction.data[i]) ? 1 : 0;
      }
      places += instruction.data_count;
      counts.data_accesses += instruction.data_count;
      counts.prefixed += instruction.has_prefix ? 1 : 0;
      if (words::info10_operands(info) == words::kSegmentOperands) counts.segment_operands++;
    }
    sink.instruction(instruction);
    instructions++;
    at += needed * words::kWordBytes;
    if constexpr (requires { sink.satisfied(); }) {
      if (sink.satisfied()) break;
    }
  }
  const auto words = static_cast<size_t>(at - run.words) / words::kWordBytes;
  counts.instruction_words += words;
  counts.translated += translated;
  counts.untranslated += places - translated;
  return {instructions, words};
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/core_trace/plain_counts.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/core_trace/branch_recoding.h"
#include "core/core_trace/words.h"

namespace htmtrace {
namespace {

constexpr size_t kWordBytes = words::kWordBytes;
constexpr size_t kLeastWords = 2;  // INFO, MSR
constexpr size_t kMostWords = 7;   // INFO, MSR, prefix, two pairs

// The sums of a run share one number with fields of 16 bits. This many instructions cannot overflow
// a field.
constexpr uint64_t kMostInstructions = 0x7fff;
constexpr unsigned kBranches = 0, kPrefixed = 16, kData = 32, kSegments = 48;

// The contribution of an INFO to the sums, by the contents of its record. The processor cannot
// predict the next kind, so a table is cheaper than branches.
struct InfoKind {
  uint64_t sums = 0;
  uint64_t bytes = 0;
  unsigned third = 0;  // 1: the record has a third word
  unsigned fourth = 0;
  bool more = false;
  unsigned one_pair = 0;  // 1: the fourth word is the real page of the only data access
};

// The index of the kind: bits 32, 33, 62 and 63.
constexpr unsigned info_kind(uint64_t info) {
  return static_cast<unsigned>(words::bits(info, 32, 33) << 2 | words::bits(info, 62, 63));
}

constexpr auto kInfoKinds = [] {
  std::array<InfoKind, 16> kinds{};
  for (unsigned i = 0; i < kinds.size(); i++) {
    const uint64_t info = uint64_t{i >> 2} << 30 | (i & 3);
    const bool prefixed = words::info10_prefixed(info);
    const unsigned operands = words::info10_operands(info);
    const bool segment = operands == words::kSegmentOperands;
    const unsigned count = power10_info_words(info);
    kinds[i] = {.sums = uint64_t{words::info_branch(info)} << kBranches |
                        uint64_t{prefixed} << kPrefixed |
                        uint64_t{segment ? 0 : operands} << kData | uint64_t{segment} << kSegments,
                .bytes = count * kWordBytes,
                .third = count > 2 ? 1U : 0U,
                .fourth = count > 3 ? 1U : 0U,
                .more = count > 4,
                .one_pair = operands == 1 && !prefixed ? 1U : 0U};
  }
  return kinds;
}();

// Returns 1 if is_special(word), without branches.
unsigned special(uint64_t word) {
  const unsigned stamp = words::is_stamp(word) ? 1 : 0;
  const unsigned companion = words::is_companion(word) ? 1 : 0;
  const unsigned power10 = words::is_power10(word) ? 1 : 0;
  return stamp | companion | power10;
}

// The architected form of some branches is unknown.
bool restorable(uint64_t info) {
  constexpr unsigned kUnrestorable =
      19;  // the only primary opcode with such branches: branch_recoding.cpp
  if (!words::info_branch(info) || words::primary_opcode(info) != kUnrestorable) [[likely]]
    return true;
  return restore_power10_branch(words::opcode(info), EffectiveAddr{0}).has_value();
}

bool mapped(TranslationMap::Cursor& cursor, uint64_t page) {
  return cursor.find(RealAddr{page}) != nullptr;
}

uint64_t word(const std::byte* record, size_t index) {
  return load_be64(record + index * kWordBytes);
}

// Counters accumulated over a run of plain records. The loop passes its address to no function that
// is not inlined, so all members stay in registers.
struct Row {
  Power10Line line;
  uint64_t here = 0;  // 1: the page of the line is mapped
  uint64_t instructions = 0;
  uint64_t translated = 0;
  uint64_t sums = 0;
  uint64_t lines = 0;
  uint64_t interrupted = 0;
};

// The number of mapped data pages of a record with more than four words. Returns nothing for an
// ambiguous record.
[[gnu::noinline]] std::optional<unsigned> count_long_record(const std::byte* record,
                                                            TranslationMap::Cursor& cursor) {
  const uint64_t info = word(record, 0);
  const size_t count = power10_info_words(info);
  for (size_t i = 4; i < count; i++) {
    if (special(word(record, i)) != 0) return std::nullopt;
  }
  unsigned translated = 0;
  if (words::info10_operands(info) == words::kSegmentOperands) return translated;
  for (size_t i = words::info10_prefixed(info) ? 4 : 3; i < count; i += 2) {
    translated += mapped(cursor, words::dra10_page(word(record, i))) ? 1 : 0;
  }
  return translated;
}

void enter_line(const std::byte* record, Row& row) {
  row.interrupted += row.line.ends_group ? 1 : 0;
  row.line = Power10Line::entered(record);
  row.lines++;
}

void add(const Row& row, size_t words, CoreStatistics& statistics) {
  constexpr uint64_t kField = 0xffff;
  const uint64_t data = row.sums >> kData & kField;
  statistics.branches += row.sums >> kBranches & kField;
  statistics.prefixed += row.sums >> kPrefixed & kField;
  statistics.segment_operands += row.sums >> kSegments & kField;
  statistics.data_accesses += data;
  statistics.translated += row.translated;
  statistics.untranslated += row.instructions + data - row.translated;
  statistics.lines += row.lines;
  statistics.line_words += row.lines * words::kIearaWords;
  statistics.instruction_words += words - row.lines * words::kIearaWords;
  statistics.interrupted_groups += row.interrupted;
}

}  // namespace

PlainRecords count_plain_records(const WordRun& run, uint64_t most, PlainState state) {
  // Limits the run so that it holds at most `most` instructions and only whole records.
  const size_t count =
      std::min<uint64_t>(run.count, kLeastWords * std::min(most, kMostInstructions));
  if (count < kMostWords) return {};
  const std::byte* at = run.words;
  const std::byte* const last = at + (count - kMostWords) * kWordBytes;
  const bool any_memory = !state.data_cursor.empty();
  Row row{.line = state.stream.line()};
  row.here = mapped(state.instruction_cursor, row.line.page) ? 1 : 0;
  while (at <= last) {
    const uint64_t info = word(at, 0);
    if (!words::is_info10(info)) [[unlikely]] {
      if (!is_plain_line(at)) break;
      enter_line(at, row);
      row.here = mapped(state.instruction_cursor, row.line.page) ? 1 : 0;
      at += words::kIearaWords * kWordBytes;
      continue;
    }
    const InfoKind& kind = kInfoKinds[info_kind(info)];
    const uint64_t fourth = word(at, 3);
    const unsigned careful = (kind.third & special(word(at, 2))) | (kind.fourth & special(fourth));
    if (!words::msr_tail_clear(word(at, 1)) || careful != 0 || !restorable(info)) [[unlikely]]
      break;
    if (kind.more) [[unlikely]] {
      const auto translated = count_long_record(at, state.data_cursor);
      if (!translated) break;
      row.translated += *translated;
    } else if (any_memory) {
      const RealAddr page{words::dra10_page(fourth)};
      unsigned there = kind.one_pair & state.data_cursor.recently(page);
      if (there != kind.one_pair) [[unlikely]]
        there = mapped(state.data_cursor, page.value) ? 1 : 0;
      row.translated += there;
    }
    row.line.ends_group = false;
    row.translated += row.here;
    row.sums += kind.sums;
    row.instructions++;
    at += kind.bytes;
  }
  const auto words = static_cast<size_t>(at - run.words) / kWordBytes;
  add(row, words, state.statistics);
  state.stream.set_line(row.line);
  return {row.instructions, words};
}

}  // namespace htmtrace

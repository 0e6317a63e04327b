// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/core_trace/plain_counts.h"

#include <array>
#include <optional>

#include "core/core_trace/branch_recoding.h"
#include "core/core_trace/words.h"

namespace htmtrace {
namespace {

constexpr size_t kWordBytes = words::kWordBytes;
constexpr size_t kMostWords = 7;  // INFO, MSR, prefix, two pairs

// The properties of a record that the kind of its INFO determines.
struct InfoKind {
  uint64_t sums = 0;
  uint64_t bytes = 0;
  unsigned third = 0;  // 1: the record has a third word
  unsigned fourth = 0;
  bool more = false;
  unsigned one_pair = 0;  // 1: the fourth word is the real page of the only data access
};

constexpr auto kInfoKinds = [] {
  std::array<InfoKind, words::kInfo10Kinds> kinds{};
  for (unsigned i = 0; i < kinds.size(); i++) {
    const uint64_t info = words::info10_of_kind(i);
    const unsigned count = power10_info_words(info);
    kinds[i] = {
        .sums = kInfoSums[i],
        .bytes = count * kWordBytes,
        .third = count > 2 ? 1U : 0U,
        .fourth = count > 3 ? 1U : 0U,
        .more = count > 4,
        .one_pair = words::info10_operands(info) == 1 && !words::info10_prefixed(info) ? 1U : 0U};
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

}  // namespace

PlainRecords count_plain_records(const WordRun& run, uint64_t most, PlainState state) {
  const size_t count = words_to_sum(run, most);
  if (count < kMostWords) return {};
  const std::byte* at = run.words;
  const std::byte* const last = at + (count - kMostWords) * kWordBytes;
  const bool any_memory = !state.data_cursor.empty();
  // Only inlined functions get the addresses of these variables, so they stay in registers.
  plain::Row row{.line = state.stream.line()};
  uint64_t translated = 0;
  uint64_t line_mapped = mapped(state.instruction_cursor, row.line.page) ? 1 : 0;
  while (at <= last) {
    const uint64_t info = word(at, 0);
    if (!words::is_info10(info)) [[unlikely]] {
      if (!is_plain_line(at)) break;
      plain::enter_line(at, row);
      line_mapped = mapped(state.instruction_cursor, row.line.page) ? 1 : 0;
      at += words::kIearaWords * kWordBytes;
      continue;
    }
    const InfoKind& kind = kInfoKinds[words::info10_kind(info)];
    const uint64_t fourth = word(at, 3);
    const unsigned careful = (kind.third & special(word(at, 2))) | (kind.fourth & special(fourth));
    if (!words::msr_tail_clear(word(at, 1)) || careful != 0 || !restorable(info)) [[unlikely]]
      break;
    if (kind.more) [[unlikely]] {
      const auto pages = count_long_record(at, state.data_cursor);
      if (!pages) break;
      translated += *pages;
    } else if (any_memory) {
      const RealAddr page{words::dra10_page(fourth)};
      unsigned there = kind.one_pair & state.data_cursor.recently(page);
      if (there != kind.one_pair) [[unlikely]]
        there = mapped(state.data_cursor, page.value) ? 1 : 0;
      translated += there;
    }
    row.line.ends_group = false;
    translated += line_mapped;
    row.sums += kind.sums;
    at += kind.bytes;
  }
  const auto words = static_cast<size_t>(at - run.words) / kWordBytes;
  row.untranslated = plain::addresses_in(row.sums) - translated;
  plain::add(row, words, state.statistics);
  state.stream.set_line(row.line);
  return {records_in(row.sums), words};
}

}  // namespace htmtrace

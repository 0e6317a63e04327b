// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>

#include "core/core_trace/framing.h"

namespace htmtrace {
namespace {

using Verdict = Framing::Verdict;
using words::Power10Type;

// The first `needed` words of the run are decidable: each word is present or will never arrive, and
// no stamp is among them.
bool decidable(const WordRun& run, size_t needed) {
  if (run.count < needed && !run.last) return false;
  if (run.filtered) return true;
  for (size_t i = 1; i < std::min(run.count, needed); i++) {
    if (words::is_stamp_or_companion(run[i])) return false;
  }
  return true;
}

Framing whole(size_t count, bool reserved_bits) {
  return {.verdict = Verdict::kWhole,
          .words = static_cast<uint8_t>(count),
          .reserved_bits = reserved_bits};
}

// Word `at` does not fit the record, or the trace ends before the word.
Framing cut(const WordRun& run, size_t at) {
  return {.verdict = Verdict::kCut,
          .words = static_cast<uint8_t>(at),
          .reason = at < run.count ? DefectReason::kCutRecord : DefectReason::kCutByEnd};
}

bool is_header(uint64_t word) {
  return words::is_power10(word) && words::power10_type(word) != Power10Type::kIllegal;
}

bool is_msr(uint64_t word) {
  return word != 0 && words::msr_tail_clear(word);
}

// An effective address may look like the header of a record. The word counts as a header only if
// the following word supports the record. Support is an MSR after an INFO, or a word that cannot be
// the real page of the address (`fits_page`).
bool is_next_record(uint64_t word, uint64_t behind, bool fits_page) {
  if (!is_header(word)) return false;
  switch (words::power10_type(word)) {
    case Power10Type::kInfo:
      return is_msr(behind);
    case Power10Type::kIeara:
      return word == words::kIearaHeader && !fits_page;
    case Power10Type::kXlate:
      return words::xlate_reserved_clear(word) && !fits_page;
    case Power10Type::kIllegal:
      break;
  }
  return false;
}

// The index of the first missing word of the INFO record, or `needed` if no word is missing.
size_t first_missing(const WordRun& run, size_t needed) {
  const size_t have = std::min(run.count, needed);
  if (have < 2 || is_header(run[1])) return 1;
  size_t at = 2;
  if (words::info10_prefixed(run[0])) {
    if (have < 3 || is_header(run[2])) return 2;
    at = 3;
  }
  const bool segment = words::info10_operands(run[0]) == words::kSegmentOperands;
  for (; at < needed; at += 2) {
    if (at >= have) return at;
    const bool has_page = at + 1 < have;
    if (segment) {
      if (is_header(run[at])) return at;
      if (!has_page) return at + 1;
      continue;
    }
    if (!has_page) return at + 1;
    const uint64_t page = run[at + 1];
    if (is_next_record(run[at], page, words::dra10_tail_clear(page))) return at;
    if (is_header(page)) return at + 1;
  }
  return needed;
}

}  // namespace

Framing frame_power10_info_carefully(const WordRun& run) {
  const size_t needed = power10_info_words(run[0]);
  if (!decidable(run, needed)) return {};
  const size_t missing = first_missing(run, needed);
  const bool confirmed = missing >= 2 && words::msr_tail_clear(run[1]);
  if (!run.in_sync && !confirmed && run.count >= 2) return Framing::bad(DefectReason::kUnconfirmed);
  if (missing < needed) return cut(run, missing);
  return whole(needed, !words::msr_tail_clear(run[1]));
}

Framing frame_power10_line_carefully(const WordRun& run) {
  if (!decidable(run, words::kIearaWords)) return {};
  const bool header_clear = run[0] == words::kIearaHeader;
  if (!run.in_sync && !header_clear) return Framing::bad(DefectReason::kUnconfirmed);
  if (run.count < words::kIearaWords) return cut(run, run.count);
  const bool page_clear = words::ieara_page_tail_clear(run[2]);
  if (is_next_record(run[1], run[2], page_clear)) return cut(run, 1);
  if (is_header(run[2])) return cut(run, 2);
  if (!run.in_sync && !page_clear) return Framing::bad(DefectReason::kUnconfirmed);
  return whole(words::kIearaWords, !header_clear || !page_clear);
}

Framing frame_power10_xlate(const WordRun& run) {
  bool reserved = !words::xlate_reserved_clear(run[0]);
  for (size_t i = 1; i < words::kXlateWords; i++) {
    if (i >= run.count) return run.last ? cut(run, i) : Framing{};
    const uint64_t word = run[i];
    if (!run.filtered && words::is_stamp_or_companion(word)) return {};
    const bool known = words::walk_kind(word) != words::WalkKind::kUnknown;
    if (is_header(word)) {
      // The addresses of table entries may look like a header, too.
      const bool is_info = words::power10_type(word) == Power10Type::kInfo;
      if (is_info && i + 1 >= run.count && !run.last) return {};
      if (is_info && !run.filtered && words::is_stamp_or_companion(run[i + 1])) return {};
      const bool info = is_info && i + 1 < run.count && is_msr(run[i + 1]);
      if (!known || info || words::walk_end(word)) return cut(run, i);
    }
    if (words::walk_end(word)) {
      if (!run.in_sync && reserved) return Framing::bad(DefectReason::kUnconfirmed);
      return whole(i + 1, reserved);
    }
    reserved |= !known;
  }
  return Framing::bad(DefectReason::kUnendedWalk);
}

}  // namespace htmtrace

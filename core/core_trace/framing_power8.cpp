// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/core_trace/framing.h"

namespace htmtrace {
namespace {

using Verdict = Framing::Verdict;

// Another INFO in place of an address. An address may look like an INFO. User addresses have zeros
// in the bits of the primary opcode, and primary opcode 0 is no instruction.
bool is_next_info(uint64_t word) {
  return words::is_power8(word) && words::info8_reserved(word) == 0 &&
         words::primary_opcode(word) != 0;
}

bool starts_something(uint64_t word) {
  return word == 0 || words::is_power8(word) || words::is_power10(word);
}

Framing whole(size_t count) {
  return {.verdict = Verdict::kWhole, .words = static_cast<uint8_t>(count)};
}

Framing frame_not_valid(const WordRun& run, size_t announced) {
  if (!run.in_sync) return Framing::bad(DefectReason::kUnconfirmed);
  for (size_t i = 1; i <= announced; i++) {
    if (i >= run.count) return run.last ? whole(i) : Framing{};
    if (!run.filtered && (words::is_stamp(run[i]) || words::is_companion(run[i]))) return {};
    if (starts_something(run[i])) return whole(i);
  }
  return whole(announced + 1);
}

}  // namespace

Framing frame_power8(const WordRun& run) {
  const uint64_t info = run[0];
  const bool segment = words::info8_segment(info);
  enum Place : uint8_t { kIea, kIra, kDea, kDra };
  const bool announced[] = {words::info8_has_iea(info), words::info8_has_ira(info),
                            words::info8_has_dea(info), words::info8_has_dra(info)};
  const size_t count = words::info8_record_words(info) - 1;
  const bool reserved = words::info8_reserved(info) != 0;
  if (words::opcode(info) == 0) return Framing::bad(DefectReason::kIllegalRecord);
  if (reserved && !run.in_sync) return Framing::bad(DefectReason::kUnconfirmed);
  if (!words::info8_valid(info)) return frame_not_valid(run, count);

  size_t at = 1;
  for (unsigned place = kIea; place <= kDra; place++) {
    if (!announced[place]) continue;
    if (at >= run.count && !run.last) return {};
    if (at < run.count && !run.filtered &&
        (words::is_stamp(run[at]) || words::is_companion(run[at]))) {
      return {};
    }
    const bool missing = at >= run.count || is_next_info(run[at]) ||
                         (place == kIra && !is_usable_ira(run[at])) ||
                         (place == kDra && !segment && !is_usable_dra8(run[at]));
    if (missing) {
      if (!run.in_sync && at < run.count) return Framing::bad(DefectReason::kUnconfirmed);
      return {.verdict = Verdict::kCut,
              .words = static_cast<uint8_t>(at),
              .reason = at < run.count ? DefectReason::kCutRecord : DefectReason::kCutByEnd};
    }
    at++;
  }
  Framing framing = whole(at);
  framing.reserved_bits = reserved;
  return framing;
}

}  // namespace htmtrace

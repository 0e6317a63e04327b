// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the end of a record and checks whether its words match the first word. Only first words
// have a tag, so this check is the only protection against damaged records. htm-core-trace(5),
// DAMAGE.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/big_endian.h"
#include "core/core_trace/events.h"
#include "core/core_trace/words.h"

namespace htmtrace {

// Consecutive words, the first of which starts a record.
struct WordRun {
  const std::byte* words = nullptr;
  size_t count = 0;
  bool filtered = false;  // the words do not include stamps
  bool last = false;      // the trace ends after the run
  bool in_sync = false;   // the previous record was whole and ended at the start of the run

  uint64_t operator[](size_t index) const { return load_be64(words + index * words::kWordBytes); }
  // The remainder of the run from `at` on.
  WordRun from(const std::byte* at) const {
    WordRun rest = *this;
    rest.words = at;
    rest.count -= static_cast<size_t>(at - words) / words::kWordBytes;
    return rest;
  }
};

struct Framing {
  enum class Verdict : uint8_t {
    kUndecided,  // the run is too short, or may contain a stamp
    kWhole,
    kCut,  // `words` of the record are present, the rest is missing
    kBad,  // not a record; try the next word
  };
  Verdict verdict = Verdict::kUndecided;
  uint8_t words = 0;           // 0 for kUndecided, 1 for kBad
  bool reserved_bits = false;  // bits are set that are clear in every known trace
  DefectReason reason = DefectReason::kCutRecord;  // for kCut and kBad

  static constexpr Framing bad(DefectReason why);
  // The run starts with a record, possibly a cut record.
  bool is_record() const { return verdict == Verdict::kWhole || verdict == Verdict::kCut; }
};

constexpr Framing Framing::bad(DefectReason why) {
  return {.verdict = Verdict::kBad, .words = 1, .reason = why};
}

// An ambiguous word inside a record; take the slow path.
[[gnu::always_inline]] inline bool is_special(uint64_t word) {
  return words::is_stamp_or_companion(word) || words::is_power10(word);
}

// The number of words that an INFO record needs to identify its instruction: INFO, MSR and the
// prefix of a prefixed instruction. The MSR may be missing only at the end of the trace.
inline unsigned least_power10_info_words(uint64_t info, const Framing& framing, bool in_sync) {
  if (words::info10_prefixed(info)) return 3;
  return in_sync && framing.reason == DefectReason::kCutByEnd ? 1 : 2;
}

// `run[0]` must be the header of the named type.
Framing frame_power10_info_carefully(const WordRun& run);
Framing frame_power10_line_carefully(const WordRun& run);
Framing frame_power10_xlate(const WordRun& run);

// `run[0]` must have the POWER8 tag. A record whose valid bit is clear counts as whole, too. The
// announced words of such a record may be absent, so the record ends before the next word that
// starts something.
Framing frame_power8(const WordRun& run);

// IRA and DRA name a real page only under these conditions.
constexpr bool is_usable_ira(uint64_t word) {
  return words::ira_shift(word) != 0 && words::ira_tail_clear(word);
}
constexpr bool is_usable_dra8(uint64_t word) {
  return words::dra8_shift(word) != 0;
}

// The number of words of the POWER8 record at the start of `run`, which must be in sync. Returns 0
// unless the record is valid, whole and unambiguous.
[[gnu::always_inline]] inline size_t plain_power8_words(const WordRun& run) {
  const uint64_t info = run[0];
  if (!words::is_plain_info8(info)) [[unlikely]]
    return 0;
  const size_t needed = words::info8_record_words(info);
  if (run.count < needed) [[unlikely]]
    return 0;
  for (size_t i = 1; i < needed; i++) {
    if (words::is_stamp_or_companion(run[i]) || words::is_power8(run[i])) [[unlikely]]
      return 0;
  }
  if (words::info8_has_ira(info) && !is_usable_ira(run[words::info8_has_iea(info) ? 2 : 1]))
      [[unlikely]]
    return 0;
  if (words::info8_has_dra(info) && !words::info8_segment(info) && !is_usable_dra8(run[needed - 1]))
      [[unlikely]]
    return 0;
  return needed;
}

inline constexpr uint8_t kPower10PairWords[] = {0, 2, 4, 2};  // indexed by info10_operands

inline constexpr uint8_t kInfoAndMsrWords = 2;

constexpr uint8_t power10_info_words(uint64_t info) {
  return static_cast<uint8_t>(kInfoAndMsrWords + (words::info10_prefixed(info) ? 1 : 0) +
                              kPower10PairWords[words::info10_operands(info)]);
}

[[gnu::always_inline]] inline Framing frame_power10_info(const WordRun& run) {
  const uint8_t needed = power10_info_words(run[0]);
  // A word with a clear MSR tail has no tag.
  if (run.count < needed || !run.in_sync || !words::msr_tail_clear(run[1])) [[unlikely]] {
    return frame_power10_info_carefully(run);
  }
  for (size_t i = 2; i < needed; i++) {
    if (is_special(run[i])) [[unlikely]]
      return frame_power10_info_carefully(run);
  }
  return {.verdict = Framing::Verdict::kWhole, .words = needed};
}

// The words at `at` are an unambiguous IEARA.
[[gnu::always_inline]] inline bool is_plain_line(const std::byte* at) {
  const uint64_t line = load_be64(at + words::kWordBytes);
  const uint64_t page = load_be64(at + 2 * words::kWordBytes);
  return load_be64(at) == words::kIearaHeader && words::ieara_page_tail_clear(page) &&
         !is_special(line) && !is_special(page);
}

inline Framing frame_power10_line(const WordRun& run) {
  if (run.count < words::kIearaWords || !run.in_sync || !is_plain_line(run.words)) [[unlikely]] {
    return frame_power10_line_carefully(run);
  }
  return {.verdict = Framing::Verdict::kWhole, .words = words::kIearaWords};
}

}  // namespace htmtrace

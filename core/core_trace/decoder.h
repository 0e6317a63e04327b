// SPDX-License-Identifier: GPL-2.0-or-later
// Decodes the bytes of a core trace, in pieces of any size, to events. Decoding never fails:
// undecodable bytes become a Defect, and the decoder continues with the next word.
//
// Most records lie in one piece without stamps between their words. The decoder reads these records
// in place. For other records, the decoder gathers the words without stamps in `window_` and runs
// the same code there. The result therefore never depends on the boundaries of the pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "core/core_trace/damage_tracker.h"
#include "core/core_trace/events.h"
#include "core/core_trace/framing.h"
#include "core/core_trace/plain_paths.h"
#include "core/core_trace/power10_stream.h"
#include "core/core_trace/power8_stream.h"
#include "core/core_trace/record_counts.h"
#include "core/core_trace/sink.h"
#include "core/core_trace/statistics.h"
#include "core/core_trace/walk_follower.h"
#include "core/core_trace/word_window.h"
#include "core/core_trace/words.h"
#include "core/memory_map/translation.h"

namespace htmtrace {

// core/core_trace/sink.h lists the members of a sink.
template <CoreSink Sink>
class CoreDecoder {
 public:
  // Recently used ranges of the map. A decoder starts faster with the cursors of another decoder of
  // the same map.
  struct Cursors {
    explicit Cursors(const TranslationMap& map) : instruction(map), data(map) {}
    TranslationMap::Cursor instruction, data;
  };

  // The map and the sink must outlive the decoder.
  CoreDecoder(const TranslationMap& map, Sink& sink) : CoreDecoder(Cursors(map), sink) {}
  CoreDecoder(const Cursors& cursors, Sink& sink)
      : sink_(sink), cursors_(cursors), damage_(statistics_, sink), walks_(statistics_, sink) {}
  CoreDecoder(const CoreDecoder&) = delete;
  CoreDecoder& operator=(const CoreDecoder&) = delete;

  const Cursors& cursors() const { return cursors_; }

  // Consumes the next bytes. Ignores them after the limit of set_instruction_limit(), or when the
  // sink is satisfied.
  void feed(std::span<const std::byte> bytes) {
    const std::byte* at = take_loose_bytes(bytes);
    const std::byte* const end = bytes.data() + bytes.size();
    while (end - at >= kWordBytes && !finished()) {
      size_t used = 0;
      if (window_.empty() && !companion_) [[likely]] {
        const WordRun run{.words = at,
                          .count = static_cast<size_t>(end - at) / kWordBytes,
                          .in_sync = damage_.in_sync()};
        used = take_plain(run);
        if (used == 0) used = take(run, {next_offset_});
      }
      if (used == 0) {
        gather(at);
        used = 1;
      }
      at += used * kWordBytes;
      next_offset_ += used * kWordBytes;
    }
    if (!finished()) loose_.take(at, static_cast<size_t>(end - at));
  }

  // Ends the trace.
  void finish() {
    if (!finished()) {
      if (companion_) keep_companion();
      drain(true);
      if (loose_.count() != 0) {
        leave_out(next_offset_, loose_.count(), DefectReason::kLooseBytes);
        next_offset_ += loose_.count();
      }
    }
    damage_.close();
    walks_.abandon();
    statistics_.bytes = next_offset_;
    statistics_.translation_evictions = power8_.translation().evictions();
  }

  // Supports parts of a trace that decode in parallel (core/core_trace/parts.h). The next byte is
  // at `offset` of the trace and starts a record. The trace reported `pages` before `offset`.
  void start_at(uint64_t offset, std::span<const Power8Page> pages = {}) {
    next_offset_ = offset;
    damage_.come_in_sync();
    power8_.translation().restore(pages);
  }
  // A record has just ended, and the decoded events after an IEARA do not depend on earlier
  // records. The only exception is the count of groups that the IEARA ends.
  bool settled() const {
    return between_records() &&
           statistics_.instructions[static_cast<size_t>(Generation::kPower8)] == 0 &&
           statistics_.not_valid_records == 0;
  }
  // Like settled(), for POWER8: the events from an INFO with an instruction address on depend only
  // on the pages that the trace reported earlier.
  bool settled_but_for_pages() const {
    return between_records() && statistics_.line_words + statistics_.xlate_words == 0 &&
           statistics_.instructions[static_cast<size_t>(Generation::kPower10)] == 0;
  }
  // Appends the changes to the known pages since the last call.
  void tell_pages(std::vector<Power8Page>& told) { power8_.translation().tell_changes(told); }
  unsigned groups_ended_by_line() const { return power10_.groups_ended_by_line(); }

  void set_instruction_limit(uint64_t limit) { limit_ = limit; }
  // Enables walks, which take time.
  void follow_walks() { walks_.start(); }
  // Enables raw walks, which lack the entries that their records omit. The sink can add these
  // entries with a WalkCompleter.
  void follow_raw_walks() { walks_.start_raw(); }
  bool finished() const { return is_satisfied(sink_) || emitted_ >= limit_; }

  uint64_t offset() const { return next_offset_; }  // the position in the trace
  const CoreStatistics& statistics() const { return statistics_; }

 private:
  static constexpr ptrdiff_t kWordBytes = words::kWordBytes;

  bool between_records() const {
    return damage_.in_sync() && window_.empty() && !companion_ && loose_.count() == 0 &&
           !damage_.address_missing() && !walks_.carries() && !finished();
  }

  // ---- words in order

  const std::byte* take_loose_bytes(std::span<const std::byte> bytes) {
    const std::byte* at = bytes.data();
    if (loose_.count() == 0 || finished()) return at;
    const size_t taken = loose_.take(at, bytes.size());
    if (!loose_.whole()) return at + taken;
    gather(loose_.data());
    loose_.clear();
    next_offset_ += words::kWordBytes;
    return at + taken;
  }

  // Appends one word to the window unless the word is a stamp, and decodes all records that are
  // complete.
  void gather(const std::byte* at) {
    const uint64_t word = load_be64(at);
    if (words::is_stamp(word)) {
      std::optional<uint64_t> timer;
      if (companion_) timer = words::companion_timer(*companion_);
      companion_.reset();
      take_stamp(word, next_offset_ - (timer ? words::kWordBytes : 0), timer);
      return;
    }
    if (companion_) keep_companion();
    if (words::is_companion(word)) {
      companion_ = word;
      return;
    }
    window_.append(word, next_offset_);
    if (!window_.in_walk()) drain(false);
  }

  // The word looked like the first half of a stamp, but no stamp followed.
  void keep_companion() {
    window_.append(*companion_, next_offset_ - words::kWordBytes);
    companion_.reset();
    drain(false);
  }

  void drain(bool last) {
    while (!window_.empty() && !finished()) {
      const size_t used = take(window_.run(last, damage_.in_sync()), window_.offsets());
      if (used == 0) return;
      window_.drop(used);
    }
  }

  // ---- records. Each function returns the number of words that it consumed, or 0 if it needs more
  // words.

  [[gnu::noinline]] size_t take(const WordRun& run, const WordOffsets& offsets) {
    const uint64_t word = run[0];
    if (words::is_stamp(word)) {
      take_stamp(word, offsets[0], std::nullopt);
      return 1;
    }
    if (words::is_power10(word)) [[likely]] {
      switch (words::power10_type(word)) {
        case words::Power10Type::kInfo:
          return take_info(run, offsets);
        case words::Power10Type::kIeara:
          return take_line(run, offsets);
        case words::Power10Type::kXlate:
          return take_xlate(run, offsets);
        case words::Power10Type::kIllegal:
          return leave_out_word(offsets, DefectReason::kIllegalRecord);
      }
    }
    if (words::is_filler(word)) {
      statistics_.filler_words++;
      return 1;
    }
    if (words::is_power8(word)) return take_power8(run, offsets);
    if (words::is_companion(word) && !run.filtered) return 0;
    return leave_out_word(offsets, DefectReason::kUnknownWord);
  }

  // Consumes the plain records at the start of the run, which yield no event except the
  // instruction. Returns 0 while a walk is pending: if the decoder follows walks, other functions
  // consume the records from the XLATE to the end of its group.
  size_t take_plain(const WordRun& run) {
    if (!run.in_sync || walks_.pending()) return 0;
    if (words::is_power8(run[0])) return take_plain_power8(run);
    if (!power10_.in_line() || !cursors_.instruction.in_whole_pages()) return 0;
    const PlainState state{power10_, cursors_.instruction, cursors_.data, statistics_};
    const PlainStart start{
        .offset = next_offset_, .most = limit_ - emitted_, .stops_at_walks = walks_.started()};
    const PlainRecords taken = take_plain_records(run, start, state, sink_);
    if (taken.words == 0) return 0;
    generation_ = Generation::kPower10;
    if (taken.instructions == 0) return taken.words;
    statistics_.instructions[static_cast<size_t>(generation_)] += taken.instructions;
    damage_.forget_missing_address();
    emitted_ += taken.instructions;
    return taken.words;
  }

  [[gnu::hot]] size_t take_plain_power8(const WordRun& run) {
    Instruction instruction;
    size_t used = 0;
    while (used < run.count && !finished()) {
      const WordRun rest = run.from(run.words + used * words::kWordBytes);
      const size_t there = plain_power8_words(rest);
      if (there == 0) break;
      put_power8(rest, there, next_offset_ + used * words::kWordBytes, instruction);
      used += there;
    }
    return used;
  }

  size_t take_info(const WordRun& run, const WordOffsets& offsets) {
    const Framing framing = frame_power10_info(run);
    if (framing.verdict != Framing::Verdict::kWhole) [[unlikely]] {
      const unsigned least = least_power10_info_words(run[0], framing, run.in_sync);
      if (framing.words < least) return leave_out_record(framing, offsets);
    }
    begin_record(framing, Generation::kPower10);
    power10_.take_info(run, framing, statistics_, instruction_);
    instruction_.offset = offsets[0];
    statistics_.instruction_words += framing.words;
    count_record({.branch = words::info_branch(run[0]),
                  .prefixed = instruction_.has_prefix,
                  .segment = words::info10_operands(run[0]) == words::kSegmentOperands,
                  .accesses = instruction_.data_count},
                 statistics_);
    walks_.take_instruction(instruction_);
    emit(instruction_);
    if (framing.verdict == Framing::Verdict::kCut) [[unlikely]] {
      report_missing(framing, offsets);
      power10_.forget_line();  // an unknown number of records is missing
    }
    return framing.words;
  }

  size_t take_line(const WordRun& run, const WordOffsets& offsets) {
    const Framing framing = frame_power10_line(run);
    if (framing.verdict != Framing::Verdict::kWhole) return leave_out_record(framing, offsets);
    begin_record(framing, Generation::kPower10);
    power10_.take_line(run, statistics_);
    statistics_.line_words += framing.words;
    walks_.take_line(power10_.line());
    return framing.words;
  }

  size_t take_xlate(const WordRun& run, const WordOffsets& offsets) {
    const Framing framing = frame_power10_xlate(run);
    if (framing.verdict != Framing::Verdict::kWhole) return leave_out_record(framing, offsets);
    begin_record(framing, Generation::kPower10);
    power10_.take_xlate(run, framing, statistics_);
    statistics_.xlate_words += framing.words;
    walks_.take_xlate(run, framing, offsets[0]);
    return framing.words;
  }

  size_t take_power8(const WordRun& run, const WordOffsets& offsets) {
    const Framing framing = frame_power8(run);
    if (!framing.is_record()) return leave_out_record(framing, offsets);
    begin_record(framing, Generation::kPower8);
    if (!words::info8_valid(run[0])) {
      statistics_.not_valid_records++;
      statistics_.not_valid_words += framing.words;
      return framing.words;
    }
    put_power8(run, framing.words, offsets[0], instruction_);
    if (framing.verdict == Framing::Verdict::kCut) report_missing(framing, offsets);
    return framing.words;
  }

  // `there` is the number of the record's words that are present.
  [[gnu::always_inline]] void put_power8(const WordRun& run, size_t there, uint64_t offset,
                                         Instruction& instruction) {
    generation_ = Generation::kPower8;
    power8_.decode(run, there, instruction);
    instruction.offset = offset;
    statistics_.instruction_words += there;
    if (power8_.lone_data_word()) statistics_.lone_data_words++;
    count_record({.branch = words::info_branch(run[0]),
                  .segment = words::info8_segment(run[0]),
                  .accesses = instruction.data_count},
                 statistics_);
    emit(instruction);
  }

  // The record is valid, so its start is a record boundary.
  void begin_record(const Framing& framing, Generation generation) {
    generation_ = generation;
    if (framing.reserved_bits) [[unlikely]]
      statistics_.reserved_bits++;
    damage_.come_in_sync();
  }

  // The decoder keeps the record although words are missing.
  void report_missing(const Framing& framing, const WordOffsets& offsets) {
    const uint64_t last = offsets[framing.words - 1U];
    damage_.report({last + words::kWordBytes, 0, framing.reason});
  }

  [[gnu::always_inline]] void emit(Instruction& instruction) {
    translate_all(cursors_.instruction, cursors_.data, instruction, statistics_);
    statistics_.instructions[static_cast<size_t>(generation_)]++;
    if (!instruction.has_ea || !instruction.has_opcode) [[unlikely]] {
      damage_.take_unknown(instruction.offset, instruction.has_ea, instruction.has_opcode);
    } else {
      damage_.forget_missing_address();
    }
    sink_.instruction(instruction);
    emitted_++;
  }

  void take_stamp(uint64_t word, uint64_t offset, std::optional<uint64_t> timer) {
    Stamp stamp = parse_stamp(word, generation_);
    stamp.offset = offset;
    stamp.companion_timer = timer;
    damage_.close();
    statistics_.add(stamp);
    const uint64_t words_taken = timer ? 2 : 1;
    if (stamp.kind == StampKind::kUndefined) {
      const uint64_t size_bytes = words_taken * words::kWordBytes;
      statistics_.defective_bytes += size_bytes;
      damage_.report({offset, size_bytes, DefectReason::kIllegalRecord});
    } else {
      statistics_.stamp_words += words_taken;
    }
    sink_.stamp(stamp);
  }

  // ---- damage

  size_t leave_out_word(const WordOffsets& offsets, DefectReason reason) {
    if (reason == DefectReason::kUnknownWord) statistics_.unknown_words++;
    leave_out(offsets[0], words::kWordBytes, reason);
    return 1;
  }

  // Skips the present words of an incomplete record. Skips no word as long as the framing is
  // undecided.
  size_t leave_out_record(const Framing& framing, const WordOffsets& offsets) {
    for (size_t i = 0; i < framing.words; i++) {
      leave_out(offsets[i], words::kWordBytes, framing.reason);
    }
    if (framing.verdict == Framing::Verdict::kCut) power10_.forget_line();
    return framing.words;
  }

  void leave_out(uint64_t offset, uint64_t size_bytes, DefectReason reason) {
    damage_.leave_out(offset, size_bytes, reason);
    walks_.abandon();
    power8_.forget_address();  // a single word may have been a whole instruction
    if (damage_.may_hide_line()) power10_.forget_line();
  }

  Sink& sink_;
  Cursors cursors_;
  Power8Stream power8_;
  Power10Stream power10_;
  CoreStatistics statistics_;
  Instruction instruction_;
  Generation generation_ =
      Generation::kPower10;  // of the last record; parse_stamp() needs the generation for a MARK

  uint64_t next_offset_ = 0;
  uint64_t emitted_ = 0;
  uint64_t limit_ = std::numeric_limits<uint64_t>::max();

  DamageTracker<Sink> damage_;
  WalkFollower<Sink> walks_;
  LooseBytes loose_;
  std::optional<uint64_t> companion_;  // held until the next word decides its kind
  WordWindow window_;
};

}  // namespace htmtrace

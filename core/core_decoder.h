// SPDX-License-Identifier: GPL-2.0-or-later
// Core-trace bytes, in pieces of any size, to events. Decoding never fails: what cannot be decoded
// becomes a Defect, and the reader goes on with the next word.
//
// Most records lie whole and without stamps inside in one piece and are decoded in place. The
// others are gathered word by word in `window_`, without their stamps, and decoded there by the
// same code, so that no result depends on how the trace was cut into pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>

#include "core/core_events.h"
#include "core/core_statistics.h"
#include "core/core_words.h"
#include "core/framing.h"
#include "core/plain_counts.h"
#include "core/plain_pages.h"
#include "core/plain_records.h"
#include "core/power10_stream.h"
#include "core/power8_stream.h"
#include "core/translation_map.h"
#include "core/walk_tracker.h"
#include "core/word_window.h"

namespace htmtrace {

// `Sink` has instruction(const Instruction&), stamp(const Stamp&) and defect(const Defect&). Events
// of one kind come in the order of the trace; a defect comes when its stretch has ended. A sink
// that has `bool satisfied() const` ends the decoding by it: no instruction follows. One that has
// walk(const Walk&) gets the walks through page tables, if they are asked for, before the
// instruction that they belong to. One that only counts says so: core/plain_counts.h.
template <class Sink>
class CoreDecoder {
 public:
  // Both must outlive the decoder.
  CoreDecoder(const TranslationMap& map, Sink& sink)
      : sink_(sink), instruction_cursor_(map), data_cursor_(map) {}

  // Takes the next bytes. After `instruction_limit` instructions it takes no more.
  void feed(std::span<const std::byte> bytes) {
    const std::byte* at = take_loose_bytes(bytes);
    const std::byte* const end = bytes.data() + bytes.size();
    while (end - at >= kWordBytes && !finished()) {
      size_t used = 0;
      if (window_.empty() && !companion_) [[likely]] {
        const WordRun run{
            .words = at, .count = static_cast<size_t>(end - at) / kWordBytes, .in_sync = in_sync_};
        const WordOffsets offsets{next_offset_};
        used = take_plain_records(run);
        if (used == 0) used = take(run, offsets);
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

  // The trace has ended.
  void finish() {
    if (!finished()) {
      if (companion_) keep_companion();
      drain(true);
      if (loose_.count() != 0) {
        leave_out(next_offset_, loose_.count(), DefectReason::kLooseBytes);
        next_offset_ += loose_.count();
      }
    }
    close_defect();
    abandon_walks();
    statistics_.bytes = next_offset_;
    statistics_.translation_evictions = power8_.evictions();
  }

  // For parts of one trace that are decoded at the same time (core/trace_part.h): the next byte is
  // this one of the trace, and a record starts there.
  void start_at(uint64_t offset) {
    next_offset_ = offset;
    in_sync_ = true;
  }
  // A record has just ended, and what an IEARA and all behind it decode to does not depend on what
  // came before it. But for this: the groups that the IEARA would have been the end of.
  bool settled() const {
    return in_sync_ && window_.empty() && !companion_ && loose_.count() == 0 && !address_missing_ &&
           !walks_ && !finished() &&
           statistics_.instructions[static_cast<size_t>(Generation::kPower8)] == 0 &&
           statistics_.not_valid_records == 0;
  }
  unsigned groups_ended_by_line() const { return power10_.groups_ended_by_line(); }

  void set_instruction_limit(uint64_t limit) { limit_ = limit; }
  // Follow walks, too; they take time.
  void follow_walks() { walks_ = std::make_unique<WalkTracker>(); }
  bool finished() const {
    if constexpr (requires { sink_.satisfied(); }) {
      if (sink_.satisfied()) return true;
    }
    return emitted_ >= limit_;
  }

  uint64_t offset() const { return next_offset_; }  // how far the trace was taken
  const CoreStatistics& statistics() const { return statistics_; }

 private:
  static constexpr ptrdiff_t kWordBytes = words::kWordBytes;
  // So many words in a row that cannot be decoded may have been an IEARA.
  static constexpr unsigned kLostLineWords = words::kIearaWords;

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

  // Takes one word into the window unless it is a stamp, and decodes what has become decidable.
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

  // The word looked like the first half of a stamp, but no stamp came.
  void keep_companion() {
    window_.append(*companion_, next_offset_ - words::kWordBytes);
    companion_.reset();
    drain(false);
  }

  void drain(bool last) {
    while (!window_.empty() && !finished()) {
      const size_t used = take(window_.run(last, in_sync_), window_.offsets());
      if (used == 0) return;
      window_.drop(used);
    }
  }

  // ---- records. Each returns how many words it took; 0: more words are needed to tell.

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

  // All records that the run begins with and of which nothing is to be told but the instruction.
  size_t take_plain_records(const WordRun& run) {
    if (!in_sync_ || walks_) return 0;
    if (!power10_.in_line() || !instruction_cursor_.in_whole_pages()) return 0;
    const uint64_t most = limit_ - emitted_;
    const PlainState state{power10_, instruction_cursor_, data_cursor_, statistics_};
    if constexpr (kCountsOnly<Sink>) {
      return took_plain(count_plain_records(run, most, state));
    } else {
      if constexpr (kTakesRows<Sink>) {
        // Each has two words at least.
        if (run.count / 2 < most && sink_.in_rows()) {
          return took_plain(decode_plain_pages(run, state, sink_));
        }
      }
      return took_plain(decode_plain_records(run, {next_offset_, most}, state, sink_));
    }
  }

  size_t took_plain(const PlainRecords& taken) {
    if (taken.words == 0) return 0;
    generation_ = Generation::kPower10;
    if (taken.instructions == 0) return taken.words;
    statistics_.instructions[static_cast<size_t>(generation_)] += taken.instructions;
    address_missing_ = false;
    emitted_ += taken.instructions;
    return taken.words;
  }

  size_t take_info(const WordRun& run, const WordOffsets& offsets) {
    const Framing framing = frame_power10_info(run);
    if (framing.verdict != Framing::Verdict::kWhole) [[unlikely]] {
      if (framing.verdict == Framing::Verdict::kUndecided) return 0;
      if (framing.verdict == Framing::Verdict::kBad) return leave_out_word(offsets, framing.reason);
      const unsigned least = words::info10_prefixed(run[0]) ? 3 : 2;
      if (framing.words < least) return leave_out_record(framing, offsets);
    }
    begin_record(framing, Generation::kPower10);
    power10_.take_info(run, framing, statistics_, instruction_);
    instruction_.offset = offsets[0];
    statistics_.instruction_words += framing.words;
    if (words::info10_operands(run[0]) == words::kSegmentOperands) statistics_.segment_operands++;
    statistics_.branches += words::info_branch(run[0]) ? 1 : 0;
    if (walks_ && walks_->pending()) [[unlikely]] {
      walks_->take_instruction(instruction_);
      pass_walks();
    }
    emit(instruction_);
    if (framing.verdict == Framing::Verdict::kCut) [[unlikely]] {
      report_missing(framing, offsets);
      power10_.forget_line();  // who knows how much is missing
    }
    return framing.words;
  }

  size_t take_line(const WordRun& run, const WordOffsets& offsets) {
    const Framing framing = frame_power10_line(run);
    if (framing.verdict == Framing::Verdict::kUndecided) return 0;
    if (framing.verdict == Framing::Verdict::kBad) return leave_out_word(offsets, framing.reason);
    if (framing.verdict == Framing::Verdict::kCut) return leave_out_record(framing, offsets);
    begin_record(framing, Generation::kPower10);
    power10_.take_line(run, statistics_);
    statistics_.line_words += framing.words;
    if (walks_) [[unlikely]] {
      walks_->take_line({power10_.line().address}, {power10_.line().page});
      pass_walks();
    }
    return framing.words;
  }

  size_t take_xlate(const WordRun& run, const WordOffsets& offsets) {
    const Framing framing = frame_power10_xlate(run);
    if (framing.verdict == Framing::Verdict::kUndecided) return 0;
    if (framing.verdict == Framing::Verdict::kBad) return leave_out_word(offsets, framing.reason);
    if (framing.verdict == Framing::Verdict::kCut) return leave_out_record(framing, offsets);
    begin_record(framing, Generation::kPower10);
    power10_.take_xlate(run, framing, statistics_);
    statistics_.xlate_words += framing.words;
    if (walks_) {
      walks_->take_xlate(run, framing, offsets[0]);
      pass_walks();
    }
    return framing.words;
  }

  size_t take_power8(const WordRun& run, const WordOffsets& offsets) {
    const Framing framing = frame_power8(run);
    if (framing.verdict == Framing::Verdict::kUndecided) return 0;
    if (framing.verdict == Framing::Verdict::kBad) return leave_out_word(offsets, framing.reason);
    begin_record(framing, Generation::kPower8);
    if (!words::info8_valid(run[0])) {
      statistics_.not_valid_records++;
      statistics_.not_valid_words += framing.words;
      return framing.words;
    }
    power8_.decode(run, framing, instruction_);
    instruction_.offset = offsets[0];
    statistics_.instruction_words += framing.words;
    if (words::info8_segment(run[0])) statistics_.segment_operands++;
    if (power8_.lone_data_word()) statistics_.lone_data_words++;
    statistics_.branches += words::info_branch(run[0]) ? 1 : 0;
    emit(instruction_);
    if (framing.verdict == Framing::Verdict::kCut) report_missing(framing, offsets);
    return framing.words;
  }

  // The record is good: so is the place where it started.
  void begin_record(const Framing& framing, Generation generation) {
    generation_ = generation;
    if (framing.reserved_bits) [[unlikely]]
      statistics_.reserved_bits++;
    if (in_sync_) [[likely]]
      return;
    close_defect();
    in_sync_ = true;
    lost_words_ = 0;
  }

  // The record is kept, but words of it are missing.
  void report_missing(const Framing& framing, const WordOffsets& offsets) {
    const uint64_t last = offsets[framing.words - 1U];
    report({last + words::kWordBytes, 0, framing.reason});
  }

  [[gnu::always_inline]] void emit(Instruction& instruction) {
    if (instruction.has_ra) [[likely]]
      count_place(translate(instruction_cursor_, instruction));
    for (unsigned i = 0; i < instruction.data_count; i++) {
      DataAccess& data = instruction.data[i];
      if (data.has_ra) count_place(translate(data_cursor_, data));
    }
    statistics_.data_accesses += instruction.data_count;
    statistics_.prefixed += instruction.has_prefix ? 1 : 0;
    statistics_.instructions[static_cast<size_t>(generation_)]++;
    if (!instruction.has_ea || !instruction.has_opcode) [[unlikely]] {
      count_unknown(instruction);
    } else {
      address_missing_ = false;
    }
    sink_.instruction(instruction);
    emitted_++;
  }

  void count_place(bool translated) {
    (translated ? statistics_.translated : statistics_.untranslated)++;
  }

  void take_stamp(uint64_t word, uint64_t offset, std::optional<uint64_t> timer) {
    Stamp stamp = parse_stamp(word, generation_);
    stamp.offset = offset;
    stamp.companion_timer = timer;
    close_defect();
    statistics_.add(stamp);
    const uint64_t words_taken = timer ? 2 : 1;
    if (stamp.kind == StampKind::kUndefined) {
      const uint64_t size_bytes = words_taken * words::kWordBytes;
      statistics_.defective_bytes += size_bytes;
      report({offset, size_bytes, DefectReason::kIllegalRecord});
    } else {
      statistics_.stamp_words += words_taken;
    }
    sink_.stamp(stamp);
  }

  // ---- walks

  void pass_walks() {
    for (const Walk& walk : walks_->done()) {
      statistics_.walks.add(walk);
      if constexpr (requires { sink_.walk(walk); }) sink_.walk(walk);
    }
    walks_->done().clear();
  }

  void abandon_walks() {
    if (!walks_) return;
    walks_->abandon();
    pass_walks();
  }

  // ---- damage

  void count_unknown(const Instruction& instruction) {
    if (!instruction.has_ea) {
      statistics_.unknown_addresses++;
      if (!address_missing_) report({instruction.offset, 0, DefectReason::kUnknownAddress});
      address_missing_ = true;
    }
    if (instruction.has_opcode) return;
    statistics_.unrestored_branches++;
    if (instruction.has_ea) report({instruction.offset, 0, DefectReason::kUnknownBranch});
  }

  size_t leave_out_word(const WordOffsets& offsets, DefectReason reason) {
    if (reason == DefectReason::kUnknownWord) statistics_.unknown_words++;
    leave_out(offsets[0], words::kWordBytes, reason);
    return 1;
  }

  size_t leave_out_record(const Framing& framing, const WordOffsets& offsets) {
    for (size_t i = 0; i < framing.words; i++) {
      leave_out(offsets[i], words::kWordBytes, framing.reason);
    }
    forget_addresses();
    return framing.words;
  }

  void leave_out(uint64_t offset, uint64_t size_bytes, DefectReason reason) {
    if (open_ && open_->offset + open_->size_bytes == offset) {
      open_->size_bytes += size_bytes;
    } else {
      close_defect();
      open_ = Defect{offset, size_bytes, reason};
    }
    statistics_.defective_bytes += size_bytes;
    in_sync_ = false;
    abandon_walks();
    power8_.forget_address();  // a single word may have been a whole instruction
    if (++lost_words_ >= kLostLineWords) power10_.forget_line();
  }

  void forget_addresses() {
    power8_.forget_address();
    power10_.forget_line();
  }

  void close_defect() {
    if (!open_) return;
    report(*open_);
    open_.reset();
  }

  void report(const Defect& defect) {
    statistics_.add(defect);
    sink_.defect(defect);
  }

  Sink& sink_;
  TranslationMap::Cursor instruction_cursor_;
  TranslationMap::Cursor data_cursor_;
  Power8Stream power8_;
  Power10Stream power10_;
  std::unique_ptr<WalkTracker> walks_;  // null: walks are not asked for
  CoreStatistics statistics_;
  Instruction instruction_;
  Generation generation_ = Generation::kPower10;  // of the last record; a MARK needs it

  uint64_t next_offset_ = 0;
  uint64_t emitted_ = 0;
  uint64_t limit_ = std::numeric_limits<uint64_t>::max();

  bool in_sync_ = false;  // a trace that wrapped starts in the middle of a record
  bool address_missing_ = false;
  unsigned lost_words_ = 0;  // since the last good record
  std::optional<Defect> open_;

  LooseBytes loose_;
  std::optional<uint64_t> companion_;  // kept back until the next word shows what it is
  WordWindow window_;
};

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "ringbuf/htm_drain.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "core/memory_map/blocks.h"

namespace htmtrace {
namespace {

constexpr const char* kAuxRing = "AUX ring";
constexpr const char* kDataRing = "data ring";
constexpr const char* kEvent = "event";
constexpr const char* kPartialCause = "the driver reports a gap (AUX flag PARTIAL)";

// An extra read after the end is harmless with every driver. One driver returns 0 once too early.
constexpr int kSilentReadsAtEnd = 2;
// The event's clock stops when the kernel disables the event.
constexpr int kStalledReadsAtEnd = 2;
// The first public driver drops data that does not fit, and returns 0. Its end marker ends the
// trace.
constexpr int kSilentReadsWithoutMarker = 64;

}  // namespace

HtmDrain::HtmDrain(ReadEvent read, DataRing data, AuxRing aux, Sinks sinks, Mode mode)
    : read_(std::move(read)),
      data_(std::move(data)),
      aux_(aux),
      sinks_(std::move(sinks)),
      mode_(mode) {}

HtmDrain::Step HtmDrain::step() {
  bool progress = consume();
  const uint64_t blocks_before = totals_.map_blocks;
  const auto value = read_();
  totals_.reads++;
  progress |= consume();
  if (!value) {
    lose(kEvent, "the kernel put the event into the error state", LossUnit::kUnknown, 0);
    return Step::kDone;
  }
  const bool stalled = last_ && value->running_ns == last_->running_ns;
  last_ = value;
  note_value(*value, blocks_before);
  if (map_loops_) return Step::kDone;
  if (progress) {
    silent_reads_ = 0;
    stalled_reads_ = 0;
    return Step::kMore;
  }
  if (value->value == 0) {
    const bool no_marker = whole_rings_ && !trace_delivered_;
    const int enough = no_marker ? kSilentReadsWithoutMarker : kSilentReadsAtEnd;
    return ++silent_reads_ >= enough ? Step::kDone : Step::kMore;
  }
  stalled_reads_ = stalled ? stalled_reads_ + 1 : 0;
  if (stalled_reads_ >= kStalledReadsAtEnd) {
    lose(kEvent, "the kernel disabled the event before the end of the trace", LossUnit::kUnknown,
         0);
    return Step::kDone;
  }
  return Step::kAgain;
}

void HtmDrain::note_value(const EventValue& value, uint64_t blocks_before) {
  counts_value_ |= value.value > 1;
  blocks_at_once_ |= totals_.map_blocks > blocks_before + 1;
}

HtmDrain::Driver HtmDrain::driver() const {
  if (announces_) return Driver::kOwn;
  if (whole_rings_) return Driver::kFirst;
  if (totals_.trace_bytes == 0 && totals_.map_blocks == 0) return Driver::kUnknown;
  if (!counts_value_) return Driver::kSecond;
  if (blocks_at_once_) return Driver::kThird;
  return totals_.map_blocks > 1 ? Driver::kLatest : Driver::kThirdOrLatest;
}

void HtmDrain::finish() {
  consume();
  if (memory_full().value_or(false) && !mode_.wraps) {
    lose("trace memory", "the memory was full, and tracing stopped early", LossUnit::kUnknown, 0);
  }
  trace_proof_ = prove("trace", trace_delivered_, totals_.trace_bytes);
  // Without the driver's own count, the trace must at least match the kernel's AUX records.
  if (!announces_ && totals_.lost_records == 0 && totals_.announced_bytes > taken_bytes_) {
    lose("trace", "AUX records announce bytes that did not arrive", LossUnit::kBytes,
         totals_.announced_bytes - taken_bytes_);
    trace_proof_ = Proof::kViolated;
  }
  // The end marker counts only the trace.
  map_proof_ =
      whole_rings_ ? Proof::kNotProvable : prove("memory map", map_delivered_, totals_.map_bytes);
  settle_gaps();
  settle_lost_records();
}

namespace {

std::string milliseconds(uint64_t ns) {
  constexpr uint64_t kPerMillisecond = 1'000'000;
  return std::to_string((ns + kPerMillisecond - 1) / kPerMillisecond) + " ms";
}

// The reasons of kmod/ABI, one bit for each reason.
std::string gap_reasons(unsigned why) {
  static constexpr std::array kReasons = {
      "the hypervisor delayed START", "the kernel throttled the event's group",
      "rings were mapped or unmapped while the event was enabled",
      "the kernel removed the event from its CPU", "the hypervisor refused START"};
  std::string text;
  for (size_t bit = 0; bit < kReasons.size(); bit++) {
    if ((why >> bit & 1) == 0) continue;
    text += text.empty() ? "" : "; ";
    text += kReasons[bit];
  }
  return text;
}

}  // namespace

// Reports the gaps that the driver announced. For a caller that waits for the begin, the time
// before the begin is not a loss.
void HtmDrain::settle_gaps() {
  const bool late = started_ && started_->why != 0;
  if (late && !mode_.awaits_begin) {
    const std::string cause = "tracing began " + milliseconds(started_->untraced_ns) +
                              " late: " + gap_reasons(started_->why);
    lose("trace", cause.c_str(), LossUnit::kUnknown, 0);
  }
  if (gaps_ != 0) {
    const std::string cause = "tracing was interrupted for " + milliseconds(gaps_ns_) + " in " +
                              std::to_string(gaps_) + (gaps_ == 1 ? " gap: " : " gaps: ") +
                              gap_reasons(gaps_why_);
    lose("trace", cause.c_str(), LossUnit::kUnknown, 0);
  }
  if (started_ && partial_ && !late && gaps_ == 0 && !error_) {
    lose(kAuxRing, kPartialCause, LossUnit::kUnknown, 0);
  }
}

Proof HtmDrain::prove(const char* place, std::optional<uint64_t> delivered, uint64_t received) {
  if (!announces_ && !delivered) return Proof::kNotProvable;
  if (!delivered) {
    lose(place, "the driver did not reach the end", LossUnit::kUnknown, 0);
    return Proof::kViolated;
  }
  if (*delivered > received) {
    lose(place, "sent by the driver but not received", LossUnit::kBytes, *delivered - received);
  } else if (*delivered < received) {
    lose(place, "htmtrace received more bytes than the driver sent", LossUnit::kUnknown, 0);
  }
  return *delivered == received && !error_ ? Proof::kProven : Proof::kViolated;
}

// Lost records are harmless if all other counts prove that their contents arrived later.
void HtmDrain::settle_lost_records() {
  // The kernel writes a LOST record together with the next record that fits. After the last record,
  // only the event's own count includes the losses.
  if (last_) {
    totals_.lost_records = std::max(totals_.lost_records, last_->lost_records - mode_.lost_records);
  }
  const bool harmless = trace_proof_ == Proof::kProven && map_proof_ == Proof::kProven;
  if (totals_.lost_records == 0 || harmless) return;
  lose(kDataRing, "the data ring was full", LossUnit::kRecords, totals_.lost_records);
}

// Drains the data ring first: the kernel writes the record about AUX bytes before it publishes the
// bytes. Returns true if new bytes of the trace or of the map arrived.
bool HtmDrain::consume() {
  new_sample_ = false;
  const uint64_t skipped = data_.drain([this](const Record& record) { take_record(record); });
  if (skipped != 0) lose(kDataRing, "records without a valid size", LossUnit::kBytes, skipped);
  const bool new_trace = take_trace();
  return new_trace || new_sample_;
}

bool HtmDrain::take_trace() {
  const AuxBytes bytes = aux_.peek();
  if (bytes.overrun != 0) {
    lose(kAuxRing, "the driver overwrote unread bytes", LossUnit::kBytes, bytes.overrun);
  }
  // Later drivers never fill the ring: the kernel keeps one byte free for them.
  whole_rings_ |= !announces_ && bytes.size() == aux_.size_bytes() &&
                  new_aux_record_bytes_ == aux_.size_bytes();
  new_aux_record_bytes_ = 0;
  if (whole_rings_ && bytes.size() < aux_.size_bytes()) {
    take_map_in_aux(bytes.first);
    take_map_in_aux(bytes.second);
  } else if (bytes.size() != 0 && throttled_) {
    lose(kAuxRing, "arrived after the kernel restarted the trace", LossUnit::kBytes, bytes.size());
  } else {
    for (const auto piece : {bytes.first, bytes.second}) {
      if (piece.empty()) continue;
      sinks_.trace(piece);
      keep_tail(piece);
    }
    totals_.trace_bytes += bytes.size();
  }
  taken_bytes_ += bytes.size() + bytes.overrun;
  aux_.release(bytes);
  return bytes.size() != 0 || bytes.overrun != 0;
}

void HtmDrain::keep_tail(std::span<const std::byte> bytes) {
  const auto last = bytes.last(std::min(bytes.size(), tail_.size()));
  std::shift_left(tail_.begin(), tail_.end(), static_cast<ptrdiff_t>(last.size()));
  std::ranges::copy(last, tail_.end() - static_cast<ptrdiff_t>(last.size()));
}

// The driver delivers whole pieces, with zeros where the macro has not written. Zeros at the end
// show that the macro wrote nothing more: either it had nothing more to write, or its next record
// did not fit, which a stamp reports. The public drivers define 128 bytes as a record.
std::optional<bool> HtmDrain::memory_full() const {
  constexpr size_t kRecordBytes = 128;
  if (mode_.reports_full != nullptr && mode_.reports_full(tail_)) return true;
  if (expected_trace_bytes_ == 0) return std::nullopt;
  const bool written = std::ranges::any_of(std::span(tail_).last<kRecordBytes>(),
                                           [](std::byte byte) { return byte != std::byte{0}; });
  return trace_delivered_ == expected_trace_bytes_ && written;
}

void HtmDrain::take_record(const Record& record) {
  switch (record.type) {
    case PERF_RECORD_SAMPLE:
      take_sample(record.body);
      break;
    case PERF_RECORD_AUX:
      take_aux_record(record.body);
      break;
    case PERF_RECORD_LOST:
      totals_.lost_records += parse_lost(record.body).value_or(0);
      break;
    case PERF_RECORD_AUX_OUTPUT_HW_ID:
      take_announcement(record.body);
      break;
    case PERF_RECORD_THROTTLE:
      // Throttling stops the trace. Unthrottling starts the trace again, perhaps from the
      // beginning. htmtrace's own driver continues the trace and announces the gap.
      if (started_) break;
      if (!throttled_) lose(kEvent, "the kernel throttled the event", LossUnit::kUnknown, 0);
      throttled_ = true;
      break;
    default:
      break;  // UNTHROTTLE and side-band records hold no trace data
  }
}

void HtmDrain::take_sample(std::span<const std::byte> body) {
  const auto payload = parse_raw(body);
  if (payload && take_end_marker(*payload)) return;
  if (payload && take_map_block(*payload)) return;
  lose(kDataRing, "a sample that is not a block of the memory map", LossUnit::kRecords, 1);
}

bool HtmDrain::take_end_marker(std::span<const std::byte> payload) {
  const auto dumps = parse_end_marker(payload);
  if (!dumps || announces_ || (!whole_rings_ && *dumps != 0)) return false;
  whole_rings_ = true;
  trace_delivered_ = *dumps * uint64_t{aux_.size_bytes()};
  new_sample_ = true;
  return true;
}

// The first public driver commits a block as one piece of the ring. The bytes after the block are
// not data.
void HtmDrain::take_map_in_aux(std::span<const std::byte> bytes) {
  if (bytes.empty() || take_map_block(bytes)) return;
  lose(kAuxRing, "bytes after the trace that are not a block of the memory map", LossUnit::kBytes,
       bytes.size());
}

// Returns false if `bytes` do not begin with a whole block of the memory map. perf pads a block.
bool HtmDrain::take_map_block(std::span<const std::byte> bytes) {
  const auto block = parse_htm_block(bytes, bytes.size(), kMemoryEntryBytes);
  if (!block || block->truncated()) return false;
  bytes = bytes.first(block->size_bytes);
  if (std::ranges::equal(bytes, last_block_)) {
    totals_.map_repeats++;
    return true;
  }
  new_sample_ = true;
  last_block_.assign(bytes.begin(), bytes.end());
  sinks_.map(bytes);
  totals_.map_bytes += bytes.size();
  totals_.map_blocks++;
  totals_.map_entries += block->entries;
  if (!block->is_last() && !iterators_.insert(block->next).second) {
    lose("memory map", "the hypervisor's list loops", LossUnit::kUnknown, 0);
    map_loops_ = true;
  }
  return true;
}

void HtmDrain::take_aux_record(std::span<const std::byte> body) {
  const auto aux = parse_aux(body);
  if (!aux) {
    lose(kDataRing, "AUX record that is too short", LossUnit::kRecords, 1);
    return;
  }
  totals_.announced_bytes += aux->size;
  new_aux_record_bytes_ += aux->size;
  if ((aux->flags & PERF_AUX_FLAG_TRUNCATED) != 0) {
    lose(kAuxRing, "the driver had to cut the trace (AUX flag TRUNCATED)", LossUnit::kUnknown, 0);
  }
  if ((aux->flags & PERF_AUX_FLAG_PARTIAL) != 0) {
    // A driver that announces the begin of a trace also announces each gap with its length.
    if (!started_) lose(kAuxRing, kPartialCause, LossUnit::kUnknown, 0);
    partial_ = true;
  }
  if ((aux->flags & PERF_AUX_FLAG_COLLISION) != 0) {
    lose(kAuxRing, "another user disturbed the trace (AUX flag COLLISION)", LossUnit::kUnknown, 0);
  }
}

void HtmDrain::take_announcement(std::span<const std::byte> body) {
  const auto said = parse_announcement(body);
  if (!said) return;
  announces_ = true;
  switch (said->kind) {
    case Announcement::Kind::kTraceBegin:
      expected_trace_bytes_ = said->bytes;
      break;
    case Announcement::Kind::kTraceEnd:
      trace_delivered_ = said->bytes;
      break;
    case Announcement::Kind::kMapBegin:
      break;
    case Announcement::Kind::kMapEnd:
      map_delivered_ = said->bytes;
      break;
    case Announcement::Kind::kError:
      if (!error_) error_ = said;
      break;
    case Announcement::Kind::kStarted:
      if (!started_) started_ = said;
      break;
    case Announcement::Kind::kGap:
      gaps_++;
      gaps_why_ |= said->why;
      gaps_ns_ += said->untraced_ns;
      break;
  }
}

void HtmDrain::lose(const char* place, const char* cause, LossUnit unit, uint64_t amount) {
  sinks_.loss({place, cause, unit, amount, totals_.trace_bytes});
}

}  // namespace htmtrace

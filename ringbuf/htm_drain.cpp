// SPDX-License-Identifier: GPL-2.0-or-later
#include "ringbuf/htm_drain.h"

#include <algorithm>
#include <utility>

namespace htmtrace {
namespace {

constexpr const char* kAuxRing = "AUX ring";
constexpr const char* kDataRing = "data ring";
constexpr const char* kEvent = "event";

// An extra read after the end is harmless in every driver; one of them answers 0 once too early.
constexpr int kSilentReadsAtEnd = 2;
// The event's clock stands still when the kernel has switched it off.
constexpr int kStalledReadsAtEnd = 2;

}  // namespace

HtmDrain::HtmDrain(ReadEvent read, DataRing data, AuxRing aux, Sinks sinks)
    : read_(std::move(read)), data_(std::move(data)), aux_(aux), sinks_(std::move(sinks)) {}

HtmDrain::Step HtmDrain::step() {
  bool progress = consume();
  const auto value = read_();
  totals_.reads++;
  progress |= consume();
  if (!value) {
    lose(kEvent, "the kernel put the event into the error state", LossUnit::kUnknown, 0);
    return Step::kDone;
  }
  const bool stalled = last_ && value->running_ns == last_->running_ns;
  last_ = value;
  if (map_loops_) return Step::kDone;
  if (progress) {
    silent_reads_ = 0;
    stalled_reads_ = 0;
    return Step::kMore;
  }
  if (value->value == 0) {
    return ++silent_reads_ >= kSilentReadsAtEnd ? Step::kDone : Step::kMore;
  }
  stalled_reads_ = stalled ? stalled_reads_ + 1 : 0;
  if (stalled_reads_ >= kStalledReadsAtEnd) {
    lose(kEvent, "the kernel switched the event off before its end", LossUnit::kUnknown, 0);
    return Step::kDone;
  }
  return Step::kAgain;
}

void HtmDrain::finish() {
  consume();
  if (memory_full().value_or(false)) {
    lose("trace memory", "it was full, and tracing ended there", LossUnit::kUnknown, 0);
  }
  trace_proof_ = prove("trace", trace_delivered_, totals_.trace_bytes);
  // Without a count by the driver, the kernel's own records must at least fit what came.
  if (!announces_ && totals_.lost_records == 0 && totals_.announced_bytes > taken_bytes_) {
    lose("trace", "AUX records speak of bytes that did not come", LossUnit::kBytes,
         totals_.announced_bytes - taken_bytes_);
    trace_proof_ = Proof::kViolated;
  }
  map_proof_ = prove("memory map", map_delivered_, totals_.map_bytes);
  settle_lost_records();
}

HtmDrain::Proof HtmDrain::prove(const char* place, std::optional<uint64_t> delivered,
                                uint64_t received) {
  if (!announces_) return Proof::kNotProvable;
  if (!delivered) {
    lose(place, "the driver did not reach the end", LossUnit::kUnknown, 0);
    return Proof::kViolated;
  }
  if (*delivered > received) {
    lose(place, "sent by the driver but not received", LossUnit::kBytes, *delivered - received);
  } else if (*delivered < received) {
    lose(place, "more was received than the driver sent", LossUnit::kUnknown, 0);
  }
  return *delivered == received && !error_ ? Proof::kProven : Proof::kViolated;
}

// A record that found no room is harmless when everything else proves that its content came later.
void HtmDrain::settle_lost_records() {
  // A LOST record is written with the next record that fits; after the last one only the event's
  // own count tells.
  if (last_) totals_.lost_records = std::max(totals_.lost_records, last_->lost_records);
  const bool harmless = trace_proof_ == Proof::kProven && map_proof_ == Proof::kProven;
  if (totals_.lost_records == 0 || harmless) return;
  lose(kDataRing, "the data ring was full", LossUnit::kRecords, totals_.lost_records);
}

// The data ring first: a record about AUX bytes is written before these bytes are published.
// Returns true when something of the trace or its map came.
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
    lose(kAuxRing, "the driver wrote over bytes that had not been read", LossUnit::kBytes,
         bytes.overrun);
  }
  if (bytes.size() != 0 && throttled_) {
    lose(kAuxRing, "came after the kernel had restarted the trace", LossUnit::kBytes, bytes.size());
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

// The driver delivers whole pieces and zeros where the macro has not written; with zeros at its end
// the memory was not full. 128 bytes are what the public drivers call a record.
std::optional<bool> HtmDrain::memory_full() const {
  if (expected_trace_bytes_ == 0) return std::nullopt;
  const bool written =
      std::ranges::any_of(tail_, [](std::byte byte) { return byte != std::byte{0}; });
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
      // Throttling stops the trace, unthrottling starts it anew, perhaps from the beginning.
      if (!throttled_) lose(kEvent, "the kernel throttled the event", LossUnit::kUnknown, 0);
      throttled_ = true;
      break;
    default:
      break;  // UNTHROTTLE and side-band records carry nothing of the trace
  }
}

void HtmDrain::take_sample(std::span<const std::byte> body) {
  const auto payload = parse_raw(body);
  const auto block = payload ? parse_map_block(*payload) : std::nullopt;
  if (!block) {
    lose(kDataRing, "a sample that is no block of the memory map", LossUnit::kRecords, 1);
    return;
  }
  if (std::ranges::equal(block->bytes, last_block_)) {
    totals_.map_repeats++;
    return;
  }
  new_sample_ = true;
  last_block_.assign(block->bytes.begin(), block->bytes.end());
  sinks_.map(block->bytes);
  totals_.map_bytes += block->bytes.size();
  totals_.map_blocks++;
  totals_.map_entries += block->entries;
  if (!block->is_last() && !iterators_.insert(block->next).second) {
    lose("memory map", "the hypervisor's list goes in circles", LossUnit::kUnknown, 0);
    map_loops_ = true;
  }
}

void HtmDrain::take_aux_record(std::span<const std::byte> body) {
  const auto aux = parse_aux(body);
  if (!aux) {
    lose(kDataRing, "AUX record that is too short", LossUnit::kRecords, 1);
    return;
  }
  totals_.announced_bytes += aux->size;
  if ((aux->flags & PERF_AUX_FLAG_TRUNCATED) != 0) {
    lose(kAuxRing, "the driver had to cut the trace (AUX flag TRUNCATED)", LossUnit::kUnknown, 0);
  }
  if ((aux->flags & PERF_AUX_FLAG_PARTIAL) != 0) {
    lose(kAuxRing, "the driver reports a gap (AUX flag PARTIAL)", LossUnit::kUnknown, 0);
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
  }
}

void HtmDrain::lose(const char* place, const char* cause, LossUnit unit, uint64_t amount) {
  sinks_.loss({place, cause, unit, amount, totals_.trace_bytes});
}

}  // namespace htmtrace

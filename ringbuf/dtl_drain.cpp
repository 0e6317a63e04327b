// SPDX-License-Identifier: GPL-2.0-or-later
#include "ringbuf/dtl_drain.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <cstring>

#include "ringbuf/records.h"

namespace htmtrace {
namespace {

// The driver's slots in an AUX area of this size, in bytes (vpa_dtl_setup_aux: threshold).
size_t slot_bytes(size_t aux_bytes) {
  constexpr size_t kLeftOver = 32;
  return aux_bytes < kLeftOver ? 0 : (aux_bytes - kLeftOver) / kDtlEntryBytes * kDtlEntryBytes;
}

// How far ahead of what it has published the driver can be writing: a whole log, and behind it the
// padding of the AUX area's end, which it publishes only with the next delivery.
constexpr uint64_t kMostAhead = 85 * kDtlEntryBytes + 80;

// Where the time is in the sample_id of a record whose sample_type is
// IDENTIFIER|IP|TID|TIME|CPU|RAW: behind the thread, in front of CPU and identifier
// (include/uapi/linux/perf_event.h).
constexpr size_t kAuxRecordBytes = 24;
constexpr size_t kSampleIdBytes = 32;
constexpr size_t kSampleIdTime = 8;
constexpr size_t kSampleTime = 24;  // in a sample: behind identifier, address and thread

// Raw payload of the driver without AUX area: version (32 bits), ticks a second and number of
// entries (64 bits each), in the machine's byte order and unaligned, then the entries.
constexpr size_t kRawTicksOffset = 4;
constexpr size_t kRawCountOffset = 12;
constexpr size_t kRawEntriesOffset = 20;
constexpr uint32_t kRawVersion = 1;

template <typename T>
T load_native(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

}  // namespace

DtlDrain::DtlDrain(DataRing data, std::optional<AuxRing> aux, size_t aux_bytes, Sinks sinks)
    : data_(std::move(data)), aux_(aux), aux_bytes_(aux_bytes), sinks_(std::move(sinks)) {}

void DtlDrain::look(std::vector<std::byte>& room) {
  // The record of a delivery is there before its bytes are: records first.
  const uint64_t skipped = data_.drain([this](const Record& record) { take_record(record); });
  if (skipped != 0) {
    sinks_.loss({"data ring", "its records made no sense", LossUnit::kBytes, skipped});
  }
  if (aux_) take_aux(room);
}

void DtlDrain::take_record(const Record& record) {
  if (record.type == PERF_RECORD_AUX) {
    take_aux_record(record);
  } else if (record.type == PERF_RECORD_SAMPLE) {
    take_sample(record);
  } else if (record.type == PERF_RECORD_LOST) {
    // With an AUX area the records only tell about its bytes, which come all the same.
    const uint64_t lost = parse_lost(record.body).value_or(0);
    if (!aux_) sinks_.loss({"data ring", "no room for samples", LossUnit::kRecords, lost});
  }
}

void DtlDrain::take_aux_record(const Record& record) {
  const auto aux = parse_aux(record.body);
  if (!aux) return;
  if (record.body.size() >= kAuxRecordBytes + kSampleIdBytes) {
    now_ns_ = load_native<uint64_t>(record.body.last(kSampleIdBytes).data() + kSampleIdTime);
  }
  uint64_t entries = aux->size / kDtlEntryBytes;
  if (!header_counted_ && entries != 0) {
    header_counted_ = true;
    entries--;
  }
  count_poll(entries);
  if ((aux->flags & PERF_AUX_FLAG_TRUNCATED) != 0) ended_ = true;
}

void DtlDrain::note(Sign& sign) const {
  if (sign.count++ == 0) sign.first_ns = now_ns_;
  sign.last_ns = now_ns_;
}

void DtlDrain::count_poll(uint64_t entries) {
  totals_.polls++;
  totals_.last_ns = now_ns_;
  totals_.most_at_once = std::max(totals_.most_at_once, entries);
  if (entries >= kDtlMostAtOnce) note(totals_.saturated);
}

void DtlDrain::take_sample(const Record& record) {
  const auto payload = parse_raw(record.body);
  if (aux_ || !payload) return;
  now_ns_ = load_native<uint64_t>(record.body.data() + kSampleTime);
  if (payload->size() < kRawEntriesOffset ||
      load_native<uint32_t>(payload->data()) != kRawVersion) {
    sinks_.loss({"data ring", "a sample of unknown form", LossUnit::kRecords, 1});
    return;
  }
  const auto ticks = load_native<uint64_t>(payload->data() + kRawTicksOffset);
  const auto count = load_native<uint64_t>(payload->data() + kRawCountOffset);
  const auto entries = payload->subspan(kRawEntriesOffset);
  if (count > entries.size() / kDtlEntryBytes) {
    sinks_.loss({"data ring", "a sample shorter than it says", LossUnit::kRecords, 1});
    return;
  }
  if (clock_.ticks_per_second == 0) {
    clock_ = {.boot_timebase = sinks_.boot_timebase(ticks), .ticks_per_second = ticks};
  }
  count_poll(count);
  find_disorder(entries.first(count * kDtlEntryBytes));
  deliver(entries.first(count * kDtlEntryBytes));
}

// The driver does not ask how much room there is. So bytes are copied first, and what it can have
// written to by the end of the copying is not used.
void DtlDrain::take_aux(std::vector<std::byte>& room) {
  const AuxBytes bytes = aux_->peek_untouched(kMostAhead);
  if (room.size() < bytes.size()) room.resize(bytes.size());
  const std::span copy = std::span(room).first(bytes.size());
  std::ranges::copy(bytes.first, copy.begin());
  std::ranges::copy(bytes.second, copy.subspan(bytes.first.size()).begin());
  const uint64_t all = bytes.overrun + bytes.size();
  uint64_t gone = std::min(aux_->peek_untouched(kMostAhead).overrun, all);
  if (gone != 0) {
    // On to where a slot begins, or a pass.
    const size_t slots = slot_bytes(aux_bytes_);
    while (gone < all && ((position_ + gone) & (aux_bytes_ - 1)) < slots &&
           ((position_ + gone) & (aux_bytes_ - 1)) % kDtlEntryBytes != 0) {
      gone++;
    }
    note(totals_.overruns);
    totals_.overrun_entries += gone / kDtlEntryBytes + 1;
  }
  const uint64_t pass = position_ / aux_bytes_;
  position_ += gone;
  take_pass(copy.subspan(gone - bytes.overrun));
  for (uint64_t i = pass; i < position_ / aux_bytes_; i++) note(totals_.passes);
  aux_->release(bytes);
}

// Bytes from position_ on, around the end of the area if need be.
void DtlDrain::take_pass(std::span<const std::byte> bytes) {
  const size_t slots = slot_bytes(aux_bytes_);
  while (!bytes.empty()) {
    const size_t place = position_ & (aux_bytes_ - 1);
    size_t length;
    if (place >= slots) {
      length = std::min(bytes.size(), aux_bytes_ - place);
    } else if (place % kDtlEntryBytes != 0) {
      length = std::min(bytes.size(), kDtlEntryBytes - place % kDtlEntryBytes);
      sinks_.loss({"AUX ring", "bytes between two slots", LossUnit::kBytes, length});
    } else {
      length = std::min(bytes.size(), slots - place);
      // A part of a slot at the end is told in the next turn, or next time.
      if (length >= kDtlEntryBytes) length -= length % kDtlEntryBytes;
      if (length >= kDtlEntryBytes) take_slots(bytes.first(length));
    }
    position_ += length;
    bytes = bytes.subspan(length);
  }
}

void DtlDrain::take_slots(std::span<const std::byte> slots) {
  size_t begin = 0;
  size_t at = 0;
  if (position_ == 0 && slots.size() >= kDtlEntryBytes && dtl_timebase(slots.data()) == 0) {
    clock_ = {.boot_timebase = load_native<uint64_t>(slots.data()),
              .ticks_per_second = load_native<uint64_t>(slots.data() + sizeof(uint64_t))};
    begin = at = kDtlEntryBytes;
  }
  if (in_order(slots.subspan(at))) return deliver(slots.subspan(at));
  for (; at < slots.size(); at += kDtlEntryBytes) {
    if (dtl_timebase(slots.data() + at) != 0) continue;
    note(totals_.void_slots);
    find_disorder(slots.subspan(begin, at - begin));
    deliver(slots.subspan(begin, at - begin));
    begin = at + kDtlEntryBytes;
  }
  find_disorder(slots.subspan(begin, at - begin));
  deliver(slots.subspan(begin, at - begin));
}

// Each is later than the one before, as almost always. Then none is void, either.
bool DtlDrain::in_order(std::span<const std::byte> entries) const {
  uint64_t before = last_timebase_;
  bool later = true;
  for (size_t at = 0; at < entries.size(); at += kDtlEntryBytes) {
    const uint64_t timebase = dtl_timebase(entries.data() + at);
    later &= timebase > before;
    before = timebase;
  }
  return later;
}

void DtlDrain::find_disorder(std::span<const std::byte> entries) {
  uint64_t before = last_timebase_;
  for (size_t at = 0; at < entries.size(); at += kDtlEntryBytes) {
    const uint64_t timebase = dtl_timebase(entries.data() + at);
    if (timebase <= before) note(totals_.disordered);
    before = timebase;
  }
}

void DtlDrain::deliver(std::span<const std::byte> entries) {
  if (entries.empty()) return;
  last_timebase_ = dtl_timebase(entries.last(kDtlEntryBytes).data());
  totals_.entries += entries.size() / kDtlEntryBytes;
  sinks_.entries(entries);
}

}  // namespace htmtrace

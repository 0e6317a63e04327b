// SPDX-License-Identifier: GPL-2.0-or-later
#include "ringbuf/dtl_drain.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>

#include "ringbuf/records.h"

namespace htmtrace {
namespace {

// The maximum distance of the driver's write position from the published head: a whole log and the
// padding at the AUX area's end. The driver publishes the padding only with the next delivery.
constexpr uint64_t kMostAhead = 85 * kDtlEntryBytes + 80;

// Announcements of htmtrace's own driver (kmod/ABI-vpa_dtl): a word with the kind in bits 56-63.
constexpr unsigned kDtlKindShift = 56;
constexpr uint64_t kDtlValueMask = (uint64_t{1} << kDtlKindShift) - 1;
enum DtlAnnouncement : uint8_t { kLogFull = 1, kAreaFull = 2, kNotLogged = 3, kLogTaken = 4 };

// The time in the sample_id of a record with sample_type IDENTIFIER|IP|TID|TIME|CPU|RAW. The time
// follows the thread and precedes CPU and identifier (include/uapi/linux/perf_event.h).
constexpr size_t kAuxRecordBytes = 24;
constexpr size_t kSampleIdBytes = 32;
constexpr size_t kSampleIdTime = 8;
constexpr size_t kSampleTime = 24;  // in a sample: after identifier, address and thread
constexpr size_t kSampleTask = 16;

// Raw payload of the driver without AUX area: version (32 bits), ticks per second and number of
// entries (64 bits each), then the entries. The numbers are unaligned and in the machine's byte
// order.
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

DtlTask load_task(const std::byte* from) {
  return {.pid = load_native<uint32_t>(from),
          .tid = load_native<uint32_t>(from + sizeof(uint32_t))};
}

// The smallest cache line of all relevant processors.
constexpr size_t kDrainLineBytes = 64;

// Starts loading the bytes into the processor's cache.
void fetch(std::span<const std::byte> bytes) {
  for (size_t at = 0; at < bytes.size(); at += kDrainLineBytes) {
    __builtin_prefetch(bytes.data() + at);
  }
}

// Copies entries, and prefetches the same number of bytes of `next`, which the following call
// copies: the kernel wrote these bytes, so this processor's cache does not hold them. The loop also
// checks the order of the entries while it waits for memory. Returns the continued `order`.
DtlOrder copy_entries(std::span<const std::byte> from, std::byte* to, DtlOrder order,
                      std::span<const std::byte> next) {
  constexpr size_t kAtOnce = std::lcm(kDtlEntryBytes, kDrainLineBytes);
  size_t at = 0;
  for (; at + kAtOnce <= from.size(); at += kAtOnce) {
    if (at + kAtOnce <= next.size()) fetch(next.subspan(at, kAtOnce));
    std::memcpy(to + at, from.data() + at, kAtOnce);
    for (size_t i = 0; i < kAtOnce; i += kDtlEntryBytes) order.take(to + at + i);
  }
  std::memcpy(to + at, from.data() + at, from.size() - at);
  for (; at + kDtlEntryBytes <= from.size(); at += kDtlEntryBytes) order.take(to + at);
  return order;
}

}  // namespace

DtlDrain::DtlDrain(DataRing data, std::optional<AuxRing> aux, size_t aux_bytes, Sinks sinks,
                   Driver driver)
    : data_(std::move(data)),
      aux_(aux),
      sinks_(std::move(sinks)),
      own_(driver == Driver::kOwn),
      slots_(own_ ? DtlSlots::kUnending : aux_bytes,
             {.entries = sinks_.entries, .loss = sinks_.loss}) {}

void DtlDrain::look(std::vector<std::byte>& room, const DtlDrain* next) {
  // The record of a delivery arrives before its bytes, so records come first.
  const uint64_t skipped = data_.drain([this](const Record& record) { take_record(record); });
  if (skipped != 0) {
    sinks_.loss({"data ring", "invalid records", LossUnit::kBytes, skipped});
  }
  if (aux_) take_aux(room, next != nullptr ? next->aux_bytes() : std::span<const std::byte>());
}

std::span<const std::byte> DtlDrain::aux_bytes() const {
  return aux_ ? aux_->peek().first : std::span<const std::byte>();
}

void DtlDrain::take_record(const Record& record) {
  if (record.type == PERF_RECORD_AUX) {
    take_aux_record(record);
  } else if (record.type == PERF_RECORD_AUX_OUTPUT_HW_ID) {
    if (own_) take_announcement(record);
  } else if (record.type == PERF_RECORD_SAMPLE) {
    take_sample(record);
  } else if (record.type == PERF_RECORD_LOST) {
    // With an AUX area, records only describe the AUX bytes, which arrive in any case.
    const uint64_t lost = parse_lost(record.body).value_or(0);
    if (!aux_) sinks_.loss({"data ring", "no room for samples", LossUnit::kRecords, lost});
  }
}

void DtlDrain::take_aux_record(const Record& record) {
  const auto aux = parse_aux(record.body);
  if (!aux) return;
  if (record.body.size() >= kAuxRecordBytes + kSampleIdBytes) {
    const std::byte* id = record.body.last(kSampleIdBytes).data();
    set_time(load_native<uint64_t>(id + kSampleIdTime));
    sinks_.task(load_task(id));
  }
  slots_.note_delivery(aux->offset, aux->size);
  uint64_t entries = aux->size / kDtlEntryBytes;
  if (!header_counted_ && entries != 0) {
    header_counted_ = true;
    entries--;
  }
  slots_.totals().count_poll(now_ns_, entries, own_);
  if ((aux->flags & PERF_AUX_FLAG_PARTIAL) != 0) slots_.totals().flagged.note(now_ns_);
  if ((aux->flags & PERF_AUX_FLAG_TRUNCATED) != 0) ended_ = true;
}

// The announcement's AUX record follows.
void DtlDrain::take_announcement(const Record& record) {
  if (record.body.size() < sizeof(uint64_t)) return;
  const auto word = load_native<uint64_t>(record.body.data());
  if (record.body.size() >= sizeof(uint64_t) + kSampleIdBytes) {
    set_time(load_native<uint64_t>(record.body.last(kSampleIdBytes).data() + kSampleIdTime));
  }
  DtlTotals& totals = slots_.totals();
  switch (word >> kDtlKindShift) {
    case kLogFull:
      totals.saturated.note(now_ns_);
      break;
    case kAreaFull:
      totals.area_full.note(now_ns_);
      break;
    case kNotLogged:
      totals.not_logged.note(now_ns_);
      break;
    case kLogTaken:
      totals.taken.note(now_ns_);
      ended_ = true;
      return;
    default:
      return;
  }
  totals.announced_entries += word & kDtlValueMask;
}

void DtlDrain::set_time(uint64_t now_ns) {
  now_ns_ = now_ns;
  slots_.set_time(now_ns);
}

void DtlDrain::take_sample(const Record& record) {
  const auto payload = parse_raw(record.body);
  if (aux_ || !payload) return;
  set_time(load_native<uint64_t>(record.body.data() + kSampleTime));
  sinks_.task(load_task(record.body.data() + kSampleTask));
  if (payload->size() < kRawEntriesOffset ||
      load_native<uint32_t>(payload->data()) != kRawVersion) {
    sinks_.loss({"data ring", "a sample of unknown format", LossUnit::kRecords, 1});
    return;
  }
  const auto ticks = load_native<uint64_t>(payload->data() + kRawTicksOffset);
  const auto count = load_native<uint64_t>(payload->data() + kRawCountOffset);
  const auto entries = payload->subspan(kRawEntriesOffset);
  if (count > entries.size() / kDtlEntryBytes) {
    sinks_.loss({"data ring", "a sample shorter than its header states", LossUnit::kRecords, 1});
    return;
  }
  if (clock().ticks_per_second == 0) {
    slots_.set_clock({.boot_timebase = sinks_.boot_timebase(ticks), .ticks_per_second = ticks});
  }
  slots_.totals().count_poll(now_ns_, count);
  slots_.find_disorder(entries.first(count * kDtlEntryBytes));
  slots_.deliver(entries.first(count * kDtlEntryBytes));
}

// A driver that leaves padding does not check for free space. The function therefore copies the
// bytes first. It then discards all bytes that the driver may have overwritten before the end of
// the copy.
void DtlDrain::take_aux(std::vector<std::byte>& room, std::span<const std::byte> next) {
  const uint64_t ahead = slots_.may_have_padding() ? kMostAhead : 0;
  const AuxBytes bytes = aux_->peek_untouched(ahead);
  if (bytes.size() == 0 && bytes.overrun == 0) return;
  if (room.size() < bytes.size()) room.resize(bytes.size());
  const std::span copy = std::span(room).first(bytes.size());
  const DtlOrder order =
      copy_entries(bytes.first, copy.data(), {.last_timebase = slots_.last_timebase()}, next);
  std::memcpy(copy.data() + bytes.first.size(), bytes.second.data(), bytes.second.size());
  // The copy must complete before the second read of the head.
  std::atomic_thread_fence(std::memory_order_acquire);
  const uint64_t all = bytes.overrun + bytes.size();
  uint64_t gone = std::min(aux_->peek_untouched(ahead).overrun, all);
  if (gone != 0) {
    gone = slots_.gone_with(gone, all);
    slots_.totals().overruns.note(now_ns_);
    slots_.totals().overrun_entries += gone / kDtlEntryBytes + 1;
  }
  slots_.skip(gone);
  slots_.take(copy.subspan(gone - bytes.overrun), order.kept && gone == 0 && bytes.second.empty());
  aux_->release(bytes);
}

void DtlDrain::prefetch_object() const {
  const auto* bytes = reinterpret_cast<const char*>(this);
  for (size_t at = 0; at < sizeof(*this); at += kDrainLineBytes) __builtin_prefetch(bytes + at, 1);
}

void look_at_all(std::span<DtlDrain* const> drains, std::vector<std::byte>& room) {
  for (size_t i = 0; i < drains.size(); i++) {
    if (i + 3 < drains.size()) drains[i + 3]->prefetch_object();
    if (i + 2 < drains.size()) drains[i + 2]->prefetch_counters();
    const DtlDrain* next = i + 1 < drains.size() ? drains[i + 1] : nullptr;
    if (next != nullptr) next->prefetch_records();
    drains[i]->look(room, next);
  }
}

}  // namespace htmtrace

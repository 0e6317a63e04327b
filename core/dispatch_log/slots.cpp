// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/dispatch_log/slots.h"

#include <algorithm>

#include "core/base/big_endian.h"

namespace htmtrace {

void DtlTotals::count_poll(uint64_t now_ns, uint64_t entries_of_it, bool own) {
  polls++;
  last_ns = now_ns;
  most_at_once = std::max(most_at_once, entries_of_it);
  if (!own && entries_of_it >= kDtlMostAtOnce) saturated.note(now_ns);
}

// Source: vpa_dtl_setup_aux of the driver (arch/powerpc/perf/vpa-dtl.c of Linux 7.3): threshold.
uint64_t dtl_slot_bytes(uint64_t area_bytes) {
  constexpr uint64_t kLeftOver = 32;
  return area_bytes < kLeftOver ? 0 : (area_bytes - kLeftOver) / kDtlEntryBytes * kDtlEntryBytes;
}

// With padding, a delivery ends at the end of the area or earlier, and slots begin at multiples of
// their size in each pass. An area's size is a power of two of at least 16, so only every third
// pass begins at a multiple of a slot's 48 bytes. Without padding, slots begin at multiples of
// their size from the first pass on, and one delivery of each pass crosses the end of the area.
void DtlSlots::note_delivery(uint64_t offset, uint64_t bytes) {
  if (!may_have_padding() || bytes == 0) return;
  constexpr uint64_t kPassesInStep = 3;
  const uint64_t pass = offset / area_bytes_;
  const bool crosses = (offset + bytes - 1) / area_bytes_ != pass;
  const bool in_step = offset % kDtlEntryBytes == 0 && pass % kPassesInStep != 0;
  if (crosses || in_step) area_bytes_ = kUnending;
}

uint64_t DtlSlots::gone_with(uint64_t bytes, uint64_t most) const {
  const uint64_t slots = dtl_slot_bytes(area_bytes_);
  uint64_t gone = std::min(bytes, most);
  // Continue to the start of the next slot or pass.
  const auto place = [&] { return (position_ + gone) & (area_bytes_ - 1); };
  while (gone < most && place() < slots && place() % kDtlEntryBytes != 0) gone++;
  return gone;
}

void DtlSlots::take(std::span<const std::byte> bytes, bool in_order) {
  while (!bytes.empty()) {
    const uint64_t slots = dtl_slot_bytes(area_bytes_);
    const uint64_t place = position_ & (area_bytes_ - 1);
    uint64_t length;
    // The padding may arrive in two parts. Only the first part can have the size of a slot.
    const bool slot_fits = place % kDtlEntryBytes == 0 && area_bytes_ - place >= kDtlEntryBytes;
    if (place >= slots && slot_fits && bytes.size() >= kDtlEntryBytes &&
        dtl_timebase(bytes.data()) != 0) {
      // A driver with padding never writes there.
      area_bytes_ = kUnending;
      continue;
    }
    if (place >= slots) {
      length = std::min<uint64_t>(bytes.size(), area_bytes_ - place);
    } else if (place % kDtlEntryBytes != 0) {
      length = std::min<uint64_t>(bytes.size(), kDtlEntryBytes - place % kDtlEntryBytes);
      sinks_.loss({"AUX ring", "bytes between two slots", LossUnit::kBytes, length});
    } else {
      length = std::min<uint64_t>(bytes.size(), slots - place);
      // The next iteration or the next call reports a partial slot at the end.
      if (length >= kDtlEntryBytes) length -= length % kDtlEntryBytes;
      if (length >= kDtlEntryBytes) take_slots(bytes.first(length), in_order);
    }
    skip(length);
    in_order = false;
    bytes = bytes.subspan(length);
  }
}

void DtlSlots::skip(uint64_t bytes) {
  const uint64_t pass = position_ / area_bytes_;
  position_ += bytes;
  totals_.passes.note(now_ns_, position_ / area_bytes_ - pass);
}

uint64_t DtlSlots::native(const std::byte* from) const {
  const uint64_t value = load_be64(from);
  return order_ == std::endian::big ? value : __builtin_bswap64(value);
}

void DtlSlots::take_slots(std::span<const std::byte> slots, bool in_order) {
  // The usual case: entries in order contain neither a void slot nor the clock.
  if (in_order || are_in_order(slots)) return deliver(slots);
  size_t begin = 0;
  size_t at = 0;
  if (position_ == 0 && dtl_timebase(slots.data()) == 0) {
    clock_ = {.boot_timebase = native(slots.data()),
              .ticks_per_second = native(slots.data() + sizeof(uint64_t))};
    begin = at = kDtlEntryBytes;
  }
  for (; at < slots.size(); at += kDtlEntryBytes) {
    if (dtl_timebase(slots.data() + at) != 0) continue;
    totals_.void_slots.note(now_ns_);
    find_disorder(slots.subspan(begin, at - begin));
    deliver(slots.subspan(begin, at - begin));
    begin = at + kDtlEntryBytes;
  }
  find_disorder(slots.subspan(begin, at - begin));
  deliver(slots.subspan(begin, at - begin));
}

bool DtlSlots::are_in_order(std::span<const std::byte> entries) const {
  DtlOrder order{.last_timebase = last_timebase_};
  for (size_t at = 0; at < entries.size(); at += kDtlEntryBytes) order.take(entries.data() + at);
  return order.kept;
}

void DtlSlots::find_disorder(std::span<const std::byte> entries) {
  uint64_t before = last_timebase_;
  for (size_t at = 0; at < entries.size(); at += kDtlEntryBytes) {
    const uint64_t timebase = dtl_timebase(entries.data() + at);
    if (timebase <= before) totals_.disordered.note(now_ns_);
    before = timebase;
  }
}

void DtlSlots::deliver(std::span<const std::byte> entries) {
  if (entries.empty()) return;
  last_timebase_ = dtl_timebase(entries.last(kDtlEntryBytes).data());
  totals_.entries += entries.size() / kDtlEntryBytes;
  sinks_.entries(entries);
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
// One entry of the dispatch trace log. The entry holds the reason why a virtual processor stopped,
// the reason and processor of its next dispatch, and the waiting times. (Kernel: struct dtl_entry,
// arch/powerpc/include/asm/dtl.h; 48 bytes, big-endian.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/big_endian.h"

namespace htmtrace {

inline constexpr size_t kDtlEntryBytes = 48;

// A log of one 4096-byte page holds 85 entries. The driver reads at most 84 entries at a time.
inline constexpr uint64_t kDtlMostAtOnce = 84;

struct DtlEntry {
  uint8_t dispatch_reason = 0;
  uint8_t preempt_reason = 0;
  uint16_t processor_id = 0;         // the physical processor of the dispatch
  uint32_t enqueue_to_dispatch = 0;  // this time and the next two are in ticks of the timebase
  uint32_t ready_to_enqueue = 0;
  uint32_t waiting_to_ready = 0;
  uint64_t timebase = 0;  // time of the dispatch
  uint64_t fault_address = 0;
  uint64_t srr0 = 0;  // next instruction
  uint64_t srr1 = 0;
};

inline uint64_t dtl_timebase(const std::byte* entry) {
  return load_be64(entry + 16);
}

inline DtlEntry load_dtl_entry(const std::byte* from) {
  DtlEntry entry;
  const uint32_t head = load_be32(from);
  entry.dispatch_reason = static_cast<uint8_t>(head >> 24);
  entry.preempt_reason = static_cast<uint8_t>(head >> 16);
  entry.processor_id = static_cast<uint16_t>(head);
  entry.enqueue_to_dispatch = load_be32(from + 4);
  entry.ready_to_enqueue = load_be32(from + 8);
  entry.waiting_to_ready = load_be32(from + 12);
  entry.timebase = dtl_timebase(from);
  entry.fault_address = load_be64(from + 24);
  entry.srr0 = load_be64(from + 32);
  entry.srr1 = load_be64(from + 40);
  return entry;
}

// The inverse of load_dtl_entry().
inline void store_dtl_entry(std::byte* to, const DtlEntry& entry) {
  store_be64(to, static_cast<uint64_t>(entry.dispatch_reason) << 56 |
                     static_cast<uint64_t>(entry.preempt_reason) << 48 |
                     static_cast<uint64_t>(entry.processor_id) << 32 | entry.enqueue_to_dispatch);
  store_be64(to + 8, static_cast<uint64_t>(entry.ready_to_enqueue) << 32 | entry.waiting_to_ready);
  store_be64(to + 16, entry.timebase);
  store_be64(to + 24, entry.fault_address);
  store_be64(to + 32, entry.srr0);
  store_be64(to + 40, entry.srr1);
}

// A preempt reason: the end of the time slice (PAPR; kernel:
// Documentation/arch/powerpc/vpa-dtl.rst).
inline constexpr uint8_t kPreemptTimeSlice = 4;

// perf's names; empty for a code without a name.
std::string_view dispatch_reason_name(uint8_t code);
std::string_view preempt_reason_name(uint8_t code);

// Converts ticks since boot to nanoseconds of perf's clock.
struct DtlClock {
  uint64_t boot_timebase = 0;
  uint64_t ticks_per_second = 0;

  // Returns nothing if the frequency is unknown. Treats a timebase earlier than boot as boot.
  std::optional<uint64_t> nanoseconds(uint64_t timebase) const;
  // The first timebase at or after `ns`.
  uint64_t timebase_at(uint64_t ns) const;
};

}  // namespace htmtrace

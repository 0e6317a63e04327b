// SPDX-License-Identifier: GPL-2.0-or-later
// struct perf_event_attr, independent of the age of the system's header. Debian 12's header ends
// after sig_data and reserves the word of aux_action. A header of libbpf takes precedence if
// present. Only this file defines the missing parts.
#pragma once

#if __has_include(<bpf/uapi/linux/perf_event.h>)
#include <bpf/uapi/linux/perf_event.h>
#else
#include <linux/perf_event.h>
#endif

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace htmtrace {

// PERF_ATTR_SIZE_VER9: the layout up to config4. An older kernel accepts the longer structure if
// the unknown part is zero.
inline constexpr size_t kEventAttrBytes = 144;

// Offsets of these fields in the kernel (include/uapi/linux/perf_event.h).
inline constexpr size_t kAuxActionOffset = 116;
inline constexpr std::array<size_t, 5> kConfigOffsets = {8, 56, 64, 128, 136};

// Bits of aux_action. The kernel declares them as bit-fields, so their positions depend on the byte
// order.
constexpr uint32_t aux_action_bit(unsigned index) {
  return std::endian::native == std::endian::big ? uint32_t{1} << (31 - index)
                                                 : uint32_t{1} << index;
}
inline constexpr uint32_t kAuxStartPaused = aux_action_bit(0);
inline constexpr uint32_t kAuxPause = aux_action_bit(1);
inline constexpr uint32_t kAuxResume = aux_action_bit(2);

class EventAttr {
 public:
  EventAttr();

  // Access to the fields that every header names.
  perf_event_attr& base() { return words_.base; }
  const perf_event_attr& base() const { return words_.base; }

  // Sets the options of an event that records into rings, for any PMU: initially disabled, pinned,
  // times and losses with each read. Samples have raw data after 40 bytes of fixed fields, so that
  // a full memory-map block (64 KiB - 96) still fits a record's 16-bit size.
  void record_raw_samples();

  // config (index 0), config1 .. config4.
  uint64_t config(size_t index) const;
  void set_config(size_t index, uint64_t value);

  // The event starts paused, or pauses or resumes the group's AUX event.
  uint32_t aux_action() const;
  void set_aux_action(uint32_t value);

  // The argument of perf_event_open(); base().size gives the number of valid bytes.
  std::span<const std::byte> bytes() const;

 private:
  struct Words {
    perf_event_attr base;
    std::array<uint64_t, 2> tail;  // config3 and config4 if the header lacks them
  };
  Words words_;
};

}  // namespace htmtrace

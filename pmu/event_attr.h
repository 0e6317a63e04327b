// SPDX-License-Identifier: GPL-2.0-or-later
// struct perf_event_attr, whatever age the system's header has. Debian 12's header ends after
// sig_data and calls the word of aux_action reserved; a header of libbpf is used where it is there.
// All that is missing is defined here and nowhere else.
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

// PERF_ATTR_SIZE_VER9: the layout up to config4. An older kernel takes the longer structure as
// long as the part that it does not know is zero.
inline constexpr size_t kEventAttrBytes = 144;

// Where the kernel reads these fields (include/uapi/linux/perf_event.h).
inline constexpr size_t kAuxActionOffset = 116;
inline constexpr std::array<size_t, 5> kConfigOffsets = {8, 56, 64, 128, 136};

// Bits of aux_action; they are bit-fields of the kernel's, so their places follow the byte order.
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

  // The fields that every header has.
  perf_event_attr& base() { return words_.base; }
  const perf_event_attr& base() const { return words_.base; }

  // What an event that records into rings wants, whichever PMU it is of: disabled at first, pinned,
  // samples with raw data in fixed fields of 40 bytes, so that a full memory-map block (64 KiB -
  // 96) still fits the 16 bits of a record's size, and the times and losses with each read.
  void record_raw_samples();

  // config (index 0), config1 .. config4.
  uint64_t config(size_t index) const;
  void set_config(size_t index, uint64_t value);

  // Start paused, or pause or resume the group's AUX event.
  uint32_t aux_action() const;
  void set_aux_action(uint32_t value);

  // What perf_event_open() takes; base().size tells the kernel how much of it counts.
  std::span<const std::byte> bytes() const;

 private:
  struct Words {
    perf_event_attr base;
    std::array<uint64_t, 2> tail;  // config3 and config4 where the header lacks them
  };
  Words words_;
};

}  // namespace htmtrace

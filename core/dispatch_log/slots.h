// SPDX-License-Identifier: GPL-2.0-or-later
// Extracts dispatch trace log entries from the AUX area of mainline's vpa_dtl driver. The driver
// has its own slot counter, which perf does not know. A pass has T = (size - 32) / 48 slots,
// followed by padding. The first slot of the first pass holds the clock.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "core/base/loss.h"
#include "core/dispatch_log/entry.h"

namespace htmtrace {

// A sign of loss: the number of occurrences, and their first and last time on perf's clock.
struct DtlSign {
  uint64_t count = 0;
  uint64_t first_ns = 0, last_ns = 0;

  void note(uint64_t now_ns, uint64_t times = 1) {
    if (times == 0) return;
    if (count == 0) first_ns = now_ns;
    count += times;
    last_ns = now_ns;
  }
};

struct DtlTotals {
  uint64_t entries = 0;
  uint64_t polls = 0;            // deliveries of the driver
  uint64_t most_at_once = 0;     // entries of the largest delivery
  DtlSign saturated{};           // deliveries of the maximum size: older entries may be lost
  DtlSign passes{};              // wraps of the AUX area, which lose entries
  DtlSign overruns{};            // a full AUX area whose oldest entries were overwritten
  uint64_t overrun_entries = 0;  // upper bound of the overwritten entries
  DtlSign void_slots{};  // slots without a timebase: another user took the log from the driver
  DtlSign disordered{};  // entries older than the previous entry: overwritten during the copy
  // Reports of htmtrace's own driver (kmod/ABI-vpa_dtl). This driver also reports `saturated`.
  DtlSign area_full{};             // the AUX area had no room
  DtlSign not_logged{};            // the kernel had removed the event from its CPU
  DtlSign taken{};                 // another user took the log
  DtlSign flagged{};               // AUX records with the flag for missing entries
  uint64_t announced_entries = 0;  // lost entries in all these reports
  uint64_t last_ns = 0;            // time of the last delivery

  // `own`: htmtrace's driver made the delivery; this driver reports a full log itself.
  void count_poll(uint64_t now_ns, uint64_t entries_of_it, bool own = false);
};

// Checks consecutive entries in the hypervisor's format: each entry must be later than the previous
// entry.
struct DtlOrder {
  uint64_t last_timebase = 0;
  bool kept = true;

  void take(const std::byte* entry) {
    const uint64_t timebase = dtl_timebase(entry);
    kept &= timebase > last_timebase;
    last_timebase = timebase;
  }
};

// The size in bytes of the driver's slots in an AUX area of `area_bytes`.
uint64_t dtl_slot_bytes(uint64_t area_bytes);

// Reads one CPU's AUX area in the order in which the driver wrote the bytes.
class DtlSlots {
 public:
  struct Sinks {
    // Receives whole entries, oldest first. The span is valid only during the call.
    std::function<void(std::span<const std::byte>)> entries;
    std::function<void(const Loss&)> loss;
  };

  // The area size is a power of two, or kUnending if the bytes never wrap.
  static constexpr uint64_t kUnending = uint64_t{1} << 63;

  // `order` is the byte order of the machine that wrote the area; the clock uses this order. The
  // entries are always big-endian.
  DtlSlots(uint64_t area_bytes, Sinks sinks, std::endian order = std::endian::native)
      : area_bytes_(area_bytes), sinks_(std::move(sinks)), order_(order) {}

  // The driver delivers these bytes next, and states their running position `offset`. The call
  // finds out whether the area has padding: some drivers leave none.
  void note_delivery(uint64_t offset, uint64_t bytes);
  // False once a delivery has shown that the area has no padding.
  bool may_have_padding() const { return area_bytes_ != kUnending; }
  // The time for all signs that the following calls find.
  void set_time(uint64_t now_ns) { now_ns_ = now_ns; }
  // Consumes the next bytes at position(), across the end of the area if necessary. Unless bytes
  // lie between two slots, a call must end at the end of a slot. `in_order`: a DtlOrder that
  // started at last_timebase() found `bytes` in order.
  void take(std::span<const std::byte> bytes, bool in_order = false);
  // The number of lost bytes, at most `most`, after an overwrite of `bytes`: a slot that is partly
  // overwritten is lost completely.
  uint64_t gone_with(uint64_t bytes, uint64_t most) const;
  void skip(uint64_t bytes);
  // Handle entries that bypass the AUX area.
  void find_disorder(std::span<const std::byte> entries);
  void deliver(std::span<const std::byte> entries);

  void set_clock(const DtlClock& clock) { clock_ = clock; }
  // Unknown before the first entry.
  const DtlClock& clock() const { return clock_; }
  uint64_t position() const { return position_; }            // running offset of the next byte
  uint64_t last_timebase() const { return last_timebase_; }  // of the last entry
  DtlTotals& totals() { return totals_; }
  const DtlTotals& totals() const { return totals_; }

 private:
  void take_slots(std::span<const std::byte> slots, bool in_order);
  bool are_in_order(std::span<const std::byte> entries) const;
  uint64_t native(const std::byte* from) const;

  uint64_t area_bytes_;
  Sinks sinks_;
  std::endian order_;
  DtlTotals totals_;
  DtlClock clock_;
  uint64_t now_ns_ = 0;
  uint64_t position_ = 0;
  uint64_t last_timebase_ = 0;
};

}  // namespace htmtrace

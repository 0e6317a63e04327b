// SPDX-License-Identifier: GPL-2.0-or-later
// Dispatch trace log entries out of the AUX area of mainline's vpa_dtl driver. It keeps its own
// slot counter there, which perf does not know of: a pass has T = (size - 32) / 48 slots, what is
// behind them is padding, and the first slot of the first pass holds the clock.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "core/dtl_entry.h"
#include "core/loss.h"

namespace htmtrace {

// A sign of loss: how often it was seen, and between which times of perf's clock.
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
  DtlSign saturated{};           // a delivery as large as can be: older entries may be gone
  DtlSign passes{};              // the AUX area was gone around: that loses entries
  DtlSign overruns{};            // the AUX area was full, its oldest entries overwritten
  uint64_t overrun_entries = 0;  // how many of them there can have been
  DtlSign void_slots{};          // without a timebase: the log was taken away from the driver
  DtlSign disordered{};          // older than the one before: overwritten while it was copied
  // What htmtrace's own driver reports (kmod/ABI-vpa_dtl); `saturated` is one of these, too.
  DtlSign area_full{};             // the AUX area had no room
  DtlSign not_logged{};            // the kernel had taken the event off its CPU
  DtlSign taken{};                 // somebody else took the log
  DtlSign flagged{};               // AUX records with the flag for missing entries
  uint64_t announced_entries = 0;  // missing, of all these
  uint64_t last_ns = 0;            // of the last delivery

  // `own`: by htmtrace's driver, which reports a full log.
  void count_poll(uint64_t now_ns, uint64_t entries_of_it, bool own = false);
};

// Entries one after the other, as the hypervisor writes them: whether each is later than the one
// before.
struct DtlOrder {
  uint64_t last_timebase = 0;
  bool kept = true;

  void take(const std::byte* entry) {
    const uint64_t timebase = dtl_timebase(entry);
    kept &= timebase > last_timebase;
    last_timebase = timebase;
  }
};

// The driver's slots in an AUX area of this size, in bytes.
uint64_t dtl_slot_bytes(uint64_t area_bytes);

// Bytes of one CPU's AUX area, in the order in which the driver wrote them.
class DtlSlots {
 public:
  struct Sinks {
    // Whole entries, oldest first. The span is dead after the call.
    std::function<void(std::span<const std::byte>)> entries;
    std::function<void(const Loss&)> loss;
  };

  // A power of two; kUnending when nobody went around.
  static constexpr uint64_t kUnending = uint64_t{1} << 63;

  // `order`: of the machine that wrote them, in which the clock is. The entries are big-endian
  // always.
  DtlSlots(uint64_t area_bytes, Sinks sinks, std::endian order = std::endian::native)
      : area_bytes_(area_bytes), sinks_(std::move(sinks)), order_(order) {}

  // Signs that are found from now on are of this time.
  void set_time(uint64_t now_ns) { now_ns_ = now_ns; }
  // The next bytes, from position() on, around the end of the area if need be. Without bytes
  // between two slots a call ends where a slot does. `in_order`: a DtlOrder that began with
  // last_timebase() and took `bytes` as if they were entries was kept.
  void take(std::span<const std::byte> bytes, bool in_order = false);
  // Bytes that are gone. A slot that they cut is gone with them: so many are, of the `most` that
  // there are.
  uint64_t gone_with(uint64_t bytes, uint64_t most) const;
  void skip(uint64_t bytes);
  // Entries that came another way.
  void find_disorder(std::span<const std::byte> entries);
  void deliver(std::span<const std::byte> entries);

  void set_clock(const DtlClock& clock) { clock_ = clock; }
  // Before the first entry nothing is known.
  const DtlClock& clock() const { return clock_; }
  uint64_t position() const { return position_; }            // running, of the next byte
  uint64_t last_timebase() const { return last_timebase_; }  // of the entries so far
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

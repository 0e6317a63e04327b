// SPDX-License-Identifier: GPL-2.0-or-later
// Takes dispatch trace log entries out of the rings of one CPU's vpa_dtl event.
//
// Mainline's driver copies entries to the AUX area. It keeps its own slot counter there, which the
// ring does not know of: a pass has T = (size - 32) / 48 slots, what is behind them is padding, and
// the first slot of the first pass holds the clock. An earlier public driver, never merged, puts
// the entries into raw samples and has no AUX area. Which one it is shows in what comes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/dtl_entry.h"
#include "core/loss.h"
#include "ringbuf/rings.h"

namespace htmtrace {

class DtlDrain {
 public:
  struct Sinks {
    // Whole entries, oldest first. The span is dead after the call.
    std::function<void(std::span<const std::byte>)> entries;
    std::function<void(const Loss&)> loss;
    // Timebase at boot for a driver that does not tell it, given the ticks per second.
    std::function<uint64_t(uint64_t)> boot_timebase;
  };

  // A sign of loss: how often it was seen, and between which times of perf's clock.
  struct Sign {
    uint64_t count = 0;
    uint64_t first_ns = 0, last_ns = 0;
  };

  struct Totals {
    uint64_t entries = 0;
    uint64_t polls = 0;            // deliveries of the driver
    uint64_t most_at_once = 0;     // entries of the largest delivery
    Sign saturated{};              // a delivery as large as can be: older entries may be gone
    Sign passes{};                 // the AUX area was gone around: that loses entries
    Sign overruns{};               // the AUX area was full, its oldest entries overwritten
    uint64_t overrun_entries = 0;  // how many of them there can have been
    Sign void_slots{};             // without a timebase: the log was taken away from the driver
    Sign disordered{};             // older than the one before: overwritten while it was copied
    uint64_t last_ns = 0;          // of the last delivery
  };

  // No AUX ring: the driver has none.
  DtlDrain(DataRing data, std::optional<AuxRing> aux, size_t aux_bytes, Sinks sinks);

  // Takes everything that is there. It is copied to `room`, which grows as it must; one for many
  // rings stays in the processor's cache.
  void look(std::vector<std::byte>& room);

  const Totals& totals() const { return totals_; }
  // Before the first entry nothing is known.
  const DtlClock& clock() const { return clock_; }
  // A record said that the kernel switched the event off; it must never be switched on again.
  bool ended() const { return ended_; }

 private:
  void take_record(const Record& record);
  void take_aux_record(const Record& record);
  void take_sample(const Record& record);
  void take_aux(std::vector<std::byte>& room);
  void take_pass(std::span<const std::byte> bytes);
  void take_slots(std::span<const std::byte> slots);
  bool in_order(std::span<const std::byte> entries) const;
  void find_disorder(std::span<const std::byte> entries);
  void deliver(std::span<const std::byte> entries);
  void count_poll(uint64_t entries);
  void note(Sign& sign) const;

  DataRing data_;
  std::optional<AuxRing> aux_;
  size_t aux_bytes_;
  Sinks sinks_;
  Totals totals_;
  DtlClock clock_;
  bool ended_ = false;
  bool header_counted_ = false;
  uint64_t now_ns_ = 0;         // time of the last record
  uint64_t position_ = 0;       // running, of the next byte of the AUX area
  uint64_t last_timebase_ = 0;  // of the entries so far
};

}  // namespace htmtrace

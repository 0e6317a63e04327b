// SPDX-License-Identifier: GPL-2.0-or-later
// Takes dispatch trace log entries out of the rings of one CPU's vpa_dtl event.
//
// Mainline's driver copies entries to the AUX area, see core/dtl_slots.h. An earlier public driver,
// never merged, puts the entries into raw samples and has no AUX area; an AUX area tells these
// apart. htmtrace's own driver has mainline's slots, but no padding between them, writes only where
// there is room, and reports what is missing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/dtl_entry.h"
#include "core/dtl_slots.h"
#include "core/dtl_tasks.h"
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
    // Which task was there when the driver looked at the log. Before the entries that it found.
    std::function<void(DtlTask)> task = [](DtlTask) {};
  };

  using Sign = DtlSign;
  using Totals = DtlTotals;

  enum class Driver : uint8_t { kKernels, kOwn };

  // No AUX ring: the driver has none.
  DtlDrain(DataRing data, std::optional<AuxRing> aux, size_t aux_bytes, Sinks sinks,
           Driver driver = Driver::kKernels);

  // Takes everything that is there. It is copied to `room`, which grows as it must; one for many
  // rings stays in the processor's cache. Meanwhile the processor gets the bytes of `next`, which
  // is looked at next.
  void look(std::vector<std::byte>& room, const DtlDrain* next = nullptr);

  // Steps in front of look(), one after the other, that have the processor get what it needs while
  // it looks at other rings: this object, the rings' counters, the records.
  void prefetch_object() const;
  void prefetch_counters() const { data_.prefetch_counters(); }
  void prefetch_records() const { data_.prefetch(); }

  const Totals& totals() const { return slots_.totals(); }
  // Before the first entry nothing is known.
  const DtlClock& clock() const { return slots_.clock(); }
  // A record said that the kernel switched the event off; it must never be switched on again.
  bool ended() const { return ended_; }

 private:
  void take_record(const Record& record);
  void take_aux_record(const Record& record);
  void take_announcement(const Record& record);
  void take_sample(const Record& record);
  std::span<const std::byte> aux_bytes() const;
  void take_aux(std::vector<std::byte>& room, std::span<const std::byte> next);
  void set_time(uint64_t now_ns);

  DataRing data_;
  std::optional<AuxRing> aux_;
  Sinks sinks_;
  bool own_;
  DtlSlots slots_;
  bool ended_ = false;
  bool header_counted_ = false;
  uint64_t now_ns_ = 0;  // time of the last record
};

// Takes everything that is in all of these rings, one after the other. Of hundreds of rings each is
// in no cache when its turn comes, so what it consists of is fetched while those before it are
// emptied.
void look_at_all(std::span<DtlDrain* const> drains, std::vector<std::byte>& room);

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
// Drains dispatch trace log entries from the rings of one CPU's vpa_dtl event.
//
// Three drivers exist:
// - Mainline's driver copies entries to the AUX area: core/dispatch_log/slots.h. The patches of
//   kmod/upstream/vpa_dtl remove the padding; deliveries show this when the area wraps.
// - An earlier public driver, never merged, writes the entries into raw samples and has no AUX
//   area.
// - htmtrace's own driver uses mainline's slots without padding, writes only into free space, and
//   reports losses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/base/loss.h"
#include "core/dispatch_log/entry.h"
#include "core/dispatch_log/slots.h"
#include "core/dispatch_log/tasks.h"
#include "ringbuf/rings.h"

namespace htmtrace {

class DtlDrain {
 public:
  struct Sinks {
    // Receives whole entries, oldest first. The span is valid only during the call.
    std::function<void(std::span<const std::byte>)> entries;
    std::function<void(const Loss&)> loss;
    // Returns the timebase at boot for a driver that does not report it. The argument is the number
    // of ticks per second.
    std::function<uint64_t(uint64_t)> boot_timebase;
    // Receives the task that was current when the driver read the log. Precedes the entries of that
    // read.
    std::function<void(DtlTask)> task = [](DtlTask) {};
  };

  using Totals = DtlTotals;

  enum class Driver : uint8_t { kKernels, kOwn };

  // Without an AUX ring, the driver must be the driver of raw samples.
  DtlDrain(DataRing data, std::optional<AuxRing> aux, size_t aux_bytes, Sinks sinks,
           Driver driver = Driver::kKernels);

  // Drains both rings. Copies the bytes to `room`, which grows on demand; a `room` shared by many
  // rings stays in the processor's cache. Meanwhile, prefetches the bytes of `next`, the object to
  // drain next.
  void look(std::vector<std::byte>& room, const DtlDrain* next = nullptr);

  // Prefetch steps for look(), in this order: this object, the rings' counters, the records. The
  // caller drains other rings between the steps.
  void prefetch_object() const;
  void prefetch_counters() const { data_.prefetch_counters(); }
  void prefetch_records() const { data_.prefetch(); }

  const Totals& totals() const { return slots_.totals(); }
  // Unknown before the first entry.
  const DtlClock& clock() const { return slots_.clock(); }
  // A record reported that the kernel disabled the event. The event must never be enabled again.
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

// Drains all of these rings in order. With hundreds of rings, no ring is in a cache when its turn
// comes. The function therefore prefetches the following rings while it drains a ring.
void look_at_all(std::span<DtlDrain* const> drains, std::vector<std::byte>& room);

}  // namespace htmtrace

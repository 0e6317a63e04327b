// SPDX-License-Identifier: GPL-2.0-or-later
// One CPU's vpa_dtl event with its rings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/signals.h"
#include "core/base/fd.h"
#include "ringbuf/dtl_drain.h"
#include "ringbuf/event_fd.h"
#include "ringbuf/perf_ring.h"

namespace htmtrace {

// Locks the PMU for this htmtrace process until the result is closed. Mainline's driver refuses a
// second event on a CPU only after it has taken the log from the first event. Throws Error.
Fd lock_dtl_pmu();

// Returns the owner of the PMU's driver.
DtlDrain::Driver dtl_driver();

// The ring sizes of each CPU.
struct DtlRings {
  // Uses `aux_bytes` if given. Otherwise, the size for each CPU decreases with the number of CPUs.
  DtlRings(std::optional<size_t> aux_bytes, size_t cpus);

  RingSizes sizes;
  bool fixed;  // fail instead of mapping smaller rings

  static constexpr size_t kLeastAuxBytes = 64 << 10;
};

class DtlSource {
 public:
  // Opens and maps, disabled. A CPU must not have two open events: mainline's driver would take the
  // log from the first event. Throws Error.
  DtlSource(int cpu, const std::string& event, uint64_t period_ns, DtlRings rings);
  DtlSource(DtlSource&&) noexcept = default;
  DtlSource& operator=(DtlSource&&) = delete;
  DtlSource(const DtlSource&) = delete;
  DtlSource& operator=(const DtlSource&) = delete;
  // Disables the event before its rings are unmapped. Mainline's driver has no function to stop an
  // event, and the kernel would call the missing function.
  ~DtlSource();

  // Call this at most once: mainline's driver frees its log when the event is disabled, and a
  // second enable would write through a null pointer. Throws Error.
  void enable() const { event_.enable(); }
  void disable() const { event_.disable(); }

  int cpu() const { return cpu_; }
  const EventFd& event() const { return event_; }
  const PerfRing& ring() const { return *ring_; }

  // Returns false if the kernel has disabled the event. Sleeps up to 20 ms.
  bool alive() const;

 private:
  void map(DtlRings rings);

  int cpu_;
  EventFd event_;
  std::optional<PerfRing> ring_;
};

// Returns a period at which the driver reads the log before it is full. With the kernel's own
// driver, measures for a tenth of a second on these CPUs, and drops the entries. A signal ends the
// measurement early.
uint64_t choose_dtl_period(const std::vector<int>& cpus, const std::string& event,
                           const Signals& signals);

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
// An htm event with its rings, from opening to the first byte.
#pragma once

#include <optional>
#include <vector>

#include "core/trace_target.h"
#include "pmu/event_attr.h"
#include "ringbuf/event_fd.h"
#include "ringbuf/perf_ring.h"

namespace htmtrace {

// The CPUs on which a recording may open its event, best first.
std::vector<int> carrier_candidates();

class HtmSource {
 public:
  struct Wish {
    TraceTarget target;
    std::optional<int> cpu;          // the first that works when empty
    std::optional<RingSizes> sizes;  // these and no others; the usual ones when empty
  };

  // Opens and maps, disabled. With our driver this configures the trace macro. Throws Error.
  explicit HtmSource(const Wish& wish);

  const TraceTarget& target() const { return target_; }
  int carrier_cpu() const { return cpu_; }
  const EventFd& event() const { return event_; }
  const PerfRing& ring() const { return *ring_; }
  // The rings are smaller than usual because of the memory-lock limit.
  bool rings_shrunk() const { return rings_shrunk_; }

  // Starts the trace. The caller checks alive() before it believes that.
  void enable() const { event_.enable(); }

  // False when the kernel has switched the event off, be it refused at the start or, say, its CPU
  // gone. Does not disturb the trace. May take 20 ms to say false.
  bool alive() const;

 private:
  void open(const EventAttr& attr, const std::optional<int>& cpu);
  bool try_open(const EventAttr& attr, int cpu);
  void refuse_first_driver(const EventAttr& attr) const;

  TraceTarget target_;
  int cpu_ = -1;
  bool old_driver_ = false;  // of the generation that delivers the whole memory map at once
  bool rings_shrunk_ = false;
  EventFd event_;
  EventFd witness_;  // counts time exactly while event_ runs; reading it leaves event_ alone
  std::optional<PerfRing> ring_;
};

}  // namespace htmtrace

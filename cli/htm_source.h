// SPDX-License-Identifier: GPL-2.0-or-later
// htm events with their rings, from opening to the first byte.
#pragma once

#include <optional>
#include <vector>

#include "core/trace_target.h"
#include "pmu/event_attr.h"
#include "pmu/pmu_description.h"
#include "ringbuf/event_fd.h"
#include "ringbuf/perf_ring.h"

namespace htmtrace {

// The CPUs on which a recording may open its events, best first.
std::vector<int> carrier_candidates();

class HtmSource {
 public:
  // Opens the event on the first of `cpus` that works, disabled. With our driver this configures
  // the trace macro. Throws Error.
  HtmSource(const EventAttr& attr, const TraceTarget& target, const std::vector<int>& cpus);

  const TraceTarget& target() const { return target_; }
  int carrier_cpu() const { return cpu_; }
  const EventFd& event() const { return event_; }

  // The kernel's driver is of the generation that delivers the whole memory map at once.
  bool old_driver() const { return old_driver_; }
  // True when an old driver is the first public one, or cannot be told from it. To be called while
  // no other htm event of ours is open.
  bool is_first_driver() const;

  // Maps the rings, or maps them anew. False when that is not possible; then there are none.
  bool map_rings(RingSizes sizes, MapFailure& failure);
  void unmap_rings() { ring_.reset(); }
  const PerfRing& ring() const { return *ring_; }

  // Starts the trace. The caller checks alive() before it believes that.
  void enable() const { event_.enable(); }

  // False when the kernel has switched the event off, be it refused at the start or, say, its CPU
  // gone. Does not disturb the trace. May take 20 ms to say false.
  bool alive() const;

 private:
  bool try_open(int cpu);

  TraceTarget target_;
  EventAttr attr_;
  int cpu_ = -1;
  bool old_driver_ = false;
  EventFd event_;
  EventFd witness_;  // counts time exactly while event_ runs; reading it leaves event_ alone
  std::optional<PerfRing> ring_;
};

struct SourceWish {
  std::vector<TraceTarget> targets;
  std::vector<int> cpus;  // carriers to choose from, best first; empty: all that may be used
  std::optional<RingSizes> sizes;   // these and no others; the usual ones when empty
  bool allow_first_driver = false;  // although it can overwrite memory
};

struct Sources {
  std::vector<HtmSource> list;  // one for each target, each on a CPU of its own
  RingSizes sizes;              // of each
  bool rings_shrunk = false;    // smaller than usual because of the memory-lock limit
  bool first_driver = false;    // the one that can overwrite memory
};

// What the usual rings of one target take.
uint64_t usual_ring_bytes();

// Opens and maps all of them or none. Throws Error.
Sources open_sources(const SourceWish& wish);

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
// htm events with their rings, from opening to the first byte.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/target.h"
#include "pmu/description.h"
#include "pmu/event_attr.h"
#include "pmu/trigger.h"
#include "ringbuf/event_fd.h"
#include "ringbuf/perf_ring.h"

namespace htmtrace {

// The CPUs on which a recording may open its events, best first.
std::vector<int> carrier_candidates();

// The events that pause and resume the enabled trace.
struct Triggers {
  bool start_paused = false;
  std::optional<Trigger> resume;
  std::optional<Trigger> pause;

  bool any() const { return resume || pause; }
};

class HtmSource {
 public:
  // Opens the event on the first of `cpus` that works, disabled. With htmtrace's driver, this
  // configures the trace macro. `wraps`: `attr` requests a wrapping trace. `own_driver`: the driver
  // is htmtrace's. Throws Error.
  HtmSource(const EventAttr& attr, const TraceTarget& target, const std::vector<int>& cpus,
            bool wraps, bool own_driver);

  const TraceTarget& target() const { return target_; }
  int carrier_cpu() const { return cpu_; }
  const EventFd& event() const { return event_; }

  // Returns true if the driver delivers the whole memory map at once, as old drivers do.
  bool old_driver() const { return old_driver_; }
  // Returns true if an old driver is, or may be, the first public driver. Call it while no other
  // htm event of this process is open.
  bool is_first_driver() const;

  // Opens the events on the carrier CPU that pause and resume the trace. Call it before
  // map_rings(). Throws Error.
  void open_triggers(const Triggers& triggers);
  bool starts_paused() const { return attr_.aux_action() == kAuxStartPaused; }
  struct TriggerCount {
    const char* action;  // "resume" or "pause"
    std::string event;
    uint64_t times;  // occurrences since the trace was armed
  };
  std::vector<TriggerCount> trigger_counts() const;

  // Maps the rings, or maps them again. Returns false on failure, and then maps none.
  bool map_rings(RingSizes sizes, MapFailure& failure);
  void unmap_rings() { ring_.reset(); }
  const PerfRing& ring() const { return *ring_; }

  // Starts the trace. Call alive() to verify the start.
  void enable() const { event_.enable(); }
  // Interrupts the trace until enable(). Only htmtrace's driver keeps the earlier part of the
  // trace.
  void disable() const { event_.disable(); }

  // Call it after a trace was drained: the next enable() starts a new trace. Saves the counts of
  // the event and its triggers. Throws Error.
  void rearm(const std::optional<EventValue>& last);
  // The event's count when this trace was armed.
  const EventValue& baseline() const { return baseline_; }

  // True if enable() starts the macro and the driver announces when tracing begins.
  bool announces_begin() const { return own_driver_ && !starts_paused(); }

  // The trace memory wraps.
  bool wraps() const { return wraps_; }

  // Returns false if the kernel has disabled the event, for example because the start was refused
  // or the CPU went offline. Does not disturb the trace. A false result may take 20 ms.
  bool alive() const;

 private:
  bool try_open(int cpu);
  [[noreturn]] void explain_failure(int reason) const;
  void open_trigger(const Trigger& trigger, uint32_t action);

  TraceTarget target_;
  EventAttr attr_;
  int cpu_ = -1;
  bool old_driver_ = false;
  EventFd event_;
  EventFd witness_;  // counts time exactly while event_ runs; a read does not disturb event_
  struct Member {
    const char* action;
    std::string event;
    EventFd fd;
    uint64_t before = 0;  // the count when this trace was armed
  };
  std::vector<Member> triggers_;
  EventValue baseline_;
  bool wraps_ = false;
  bool own_driver_ = false;
  std::optional<PerfRing> ring_;
};

struct SourceWish {
  std::vector<TraceTarget> targets;
  std::vector<int> cpus;            // candidate carrier CPUs, best first; empty: all usable CPUs
  std::optional<RingSizes> sizes;   // exact ring sizes; empty: the usual sizes
  bool allow_first_driver = false;  // use it, although it can corrupt kernel memory
  bool wrap = false;                // keep the newest trace when the memory is full
  bool rearm = false;               // the recording makes several traces
  bool start_paused = false;
  std::optional<TriggerWords> resume_on;
  std::optional<TriggerWords> pause_on;
};

struct Sources {
  std::vector<HtmSource> list;  // one for each target, each on its own CPU
  RingSizes sizes;              // of each target
  bool rings_shrunk = false;    // smaller than usual because of the memory-lock limit
  bool first_driver = false;    // the driver that can overwrite memory
  Triggers triggers;            // the same triggers for each target, on its carrier CPU
};

// Returns the size of the usual rings of one target.
uint64_t usual_ring_bytes();

// Opens and maps all of them or none. Throws Error.
Sources open_sources(const SourceWish& wish);

}  // namespace htmtrace

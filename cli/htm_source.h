// SPDX-License-Identifier: GPL-2.0-or-later
// htm events with their rings, from opening to the first byte.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/trace_target.h"
#include "pmu/event_attr.h"
#include "pmu/pmu_description.h"
#include "pmu/trigger.h"
#include "ringbuf/event_fd.h"
#include "ringbuf/perf_ring.h"

namespace htmtrace {

// The CPUs on which a recording may open its events, best first.
std::vector<int> carrier_candidates();

// What pauses and resumes the trace while it is enabled.
struct Triggers {
  bool start_paused = false;
  std::optional<Trigger> resume;
  std::optional<Trigger> pause;

  bool any() const { return resume || pause; }
};

class HtmSource {
 public:
  // Opens the event on the first of `cpus` that works, disabled. With our driver this configures
  // the trace macro. `wraps`: `attr` requests a wrapping trace. `own_driver`: the driver is
  // htmtrace's. Throws Error.
  HtmSource(const EventAttr& attr, const TraceTarget& target, const std::vector<int>& cpus,
            bool wraps, bool own_driver);

  const TraceTarget& target() const { return target_; }
  int carrier_cpu() const { return cpu_; }
  const EventFd& event() const { return event_; }

  // The kernel's driver is of the generation that delivers the whole memory map at once.
  bool old_driver() const { return old_driver_; }
  // True when an old driver is the first public one, or cannot be told from it. To be called while
  // no other htm event of ours is open.
  bool is_first_driver() const;

  // Has the trace paused and resumed by what happens on the carrier CPU. Before map_rings(). Throws
  // Error.
  void open_triggers(const Triggers& triggers);
  bool starts_paused() const { return attr_.aux_action() == kAuxStartPaused; }
  struct TriggerCount {
    const char* action;  // "resume" or "pause"
    std::string event;
    uint64_t times;  // how often it happened since the trace was armed
  };
  std::vector<TriggerCount> trigger_counts() const;

  // Maps the rings, or maps them anew. False when that is not possible; then there are none.
  bool map_rings(RingSizes sizes, MapFailure& failure);
  void unmap_rings() { ring_.reset(); }
  const PerfRing& ring() const { return *ring_; }

  // Starts the trace. The caller checks alive() before it believes that.
  void enable() const { event_.enable(); }
  // Interrupts it, until enable(). Only our driver keeps what it has.
  void disable() const { event_.disable(); }

  // After all of a trace was taken out: the next enable() starts a new one. What the event and its
  // triggers have counted so far is remembered. Throws Error.
  void rearm(const std::optional<EventValue>& last);
  // What the event had counted when this trace was armed.
  const EventValue& baseline() const { return baseline_; }

  // True if enable() starts the macro and the driver announces when tracing begins.
  bool announces_begin() const { return own_driver_ && !starts_paused(); }

  // The trace memory is written round and round.
  bool wraps() const { return wraps_; }

  // False when the kernel has switched the event off, be it refused at the start or, say, its CPU
  // gone. Does not disturb the trace. May take 20 ms to say false.
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
  EventFd witness_;  // counts time exactly while event_ runs; reading it leaves event_ alone
  struct Member {
    const char* action;
    std::string event;
    EventFd fd;
    uint64_t before = 0;  // what it had counted when this trace was armed
  };
  std::vector<Member> triggers_;
  EventValue baseline_;
  bool wraps_ = false;
  bool own_driver_ = false;
  std::optional<PerfRing> ring_;
};

struct SourceWish {
  std::vector<TraceTarget> targets;
  std::vector<int> cpus;  // carriers to choose from, best first; empty: all that may be used
  std::optional<RingSizes> sizes;   // these and no others; the usual ones when empty
  bool allow_first_driver = false;  // although it can overwrite memory
  bool wrap = false;                // keep the newest when the trace memory is full
  bool rearm = false;               // more than one trace is wanted
  bool start_paused = false;
  std::optional<TriggerWords> resume_on;
  std::optional<TriggerWords> pause_on;
};

struct Sources {
  std::vector<HtmSource> list;  // one for each target, each on a CPU of its own
  RingSizes sizes;              // of each
  bool rings_shrunk = false;    // smaller than usual because of the memory-lock limit
  bool first_driver = false;    // the one that can overwrite memory
  Triggers triggers;            // the same ones for each, on its own carrier CPU
};

// What the usual rings of one target take.
uint64_t usual_ring_bytes();

// Opens and maps all of them or none. Throws Error.
Sources open_sources(const SourceWish& wish);

}  // namespace htmtrace

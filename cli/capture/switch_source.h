// SPDX-License-Identifier: GPL-2.0-or-later
// One CPU's context switches with their ring.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "core/dispatch_log/tasks.h"
#include "ringbuf/event_fd.h"
#include "ringbuf/perf_ring.h"

namespace htmtrace {

class SwitchSource {
 public:
  // Opens and maps, disabled. Throws Error.
  explicit SwitchSource(int cpu);

  void enable() const { event_.enable(); }
  void disable() const { event_.disable(); }
  const EventFd& event() const { return event_; }
  const PerfRing& ring() const { return *ring_; }

 private:
  EventFd event_;
  std::optional<PerfRing> ring_;
};

// Reads the names of the current tasks.
void read_task_names(const std::function<void(DtlTask, std::string_view)>& visit);

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
// An open perf event.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/base/fd.h"

namespace htmtrace {

// The result of read(2) for an event with the read_format
// TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING|ID|LOST (struct read_format,
// include/uapi/linux/perf_event.h).
struct EventValue {
  uint64_t value = 0;
  uint64_t enabled_ns = 0;  // how long the event was enabled
  uint64_t running_ns = 0;  // how long the event ran
  uint64_t id = 0;
  uint64_t lost_records = 0;
};

class EventFd {
 public:
  EventFd() = default;

  // Opens the event for all tasks on `cpu`. On failure, returns an empty object and sets errno. The
  // caller explains the errno, whose meaning depends on the PMU.
  static EventFd open(std::span<const std::byte> attr, int cpu, int group_fd = -1);

  // Opens the event for one task on `cpu`.
  static EventFd open_for_task(std::span<const std::byte> attr, int cpu, pid_t task);

  explicit operator bool() const { return static_cast<bool>(fd_); }
  int get() const { return fd_.get(); }

  // Throws Error.
  void enable() const;
  void disable() const;

  // Reads the counter. For htm, each call also makes the driver deliver the next piece of the
  // trace. Empty if the event is in the error state. Throws Error if read(2) fails.
  std::optional<EventValue> read() const;

  // True if the kernel has put a pinned event into the error state.
  bool refused() const;

 private:
  explicit EventFd(Fd fd) : fd_(std::move(fd)) {}

  Fd fd_;
};

}  // namespace htmtrace

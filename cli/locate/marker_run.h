// SPDX-License-Identifier: GPL-2.0-or-later
// A marker that runs on a CPU during a trace, and the proof that it ran on the CPU's core only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/locate/marker_loop.h"
#include "core/analysis/marker.h"
#include "ringbuf/event_fd.h"

namespace htmtrace {

class MarkerRun {
 public:
  // The marker runs when the constructor returns. Throws Error, for example if no thread of this
  // process may run on the CPU.
  MarkerRun(int cpu, const Marker& marker);

  uint64_t rounds() const { return loop_.rounds(); }
  void stop() { loop_.stop(); }

  // Call this after stop(), and after the traces have been read. Returns the CPU's stamp
  // (location_stamp.h) if it did not change since before the run, and the marker ran on no other
  // CPU. Throws Error if the stamp or the count of moves cannot be read.
  std::optional<std::string> undisturbed_stamp() const;

 private:
  int cpu_;
  std::string stamp_;
  MarkerLoop loop_;
  EventFd moves_;
  bool bound_ = false;  // to the CPU, when `moves_` already counted
};

}  // namespace htmtrace

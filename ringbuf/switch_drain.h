// SPDX-License-Identifier: GPL-2.0-or-later
// Drains context switches and task names from the ring of one CPU's software event. The sample_type
// of the event is TID|TIME|CPU.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "core/base/loss.h"
#include "core/dispatch_log/tasks.h"
#include "ringbuf/rings.h"

namespace htmtrace {

class SwitchDrain {
 public:
  struct Sinks {
    std::function<void(DtlTask, std::string_view)> named;
    std::function<void(DtlTask child, DtlTask parent)> forked;
    std::function<void(const Loss&)> loss;
  };

  // `track` must outlive this object.
  SwitchDrain(DataRing ring, size_t ring_bytes, DtlTaskTrack& track, Sinks sinks)
      : ring_(std::move(ring)), ring_bytes_(ring_bytes), track_(track), sinks_(std::move(sinks)) {}

  // Drains the ring.
  void look();

 private:
  void take(const Record& record);
  void take_switch(const Record& record);
  void take_name(const Record& record);

  DataRing ring_;
  size_t ring_bytes_;
  DtlTaskTrack& track_;
  Sinks sinks_;
};

}  // namespace htmtrace

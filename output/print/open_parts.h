// SPDX-License-Identifier: GPL-2.0-or-later
// What the parts of a trace share if threads select from several parts at the same time.
#pragma once

#include <atomic>

#include "core/core_trace/sink.h"
#include "core/selection/selection.h"

namespace htmtrace {

// The threads do not know the places of a part while they decode it. They assume that the
// conditions on places still have the result that they had after the last delivered part. A part
// without that result is decoded again in the order of the trace (Selector::can_follow()).
class OpenParts {
 public:
  // `selection` must outlive this object and have parts. `begin` is the place of the first event.
  OpenParts(const Selection& selection, const TracePlace& begin)
      : selection_(selection), begin_(begin) {
    Selector selector(selection);
    selector.begin_at(begin);
    open_ = selector.is_open();
  }

  const Selection& selection() const { return selection_; }
  const TracePlace& begin() const { return begin_; }

  // Any thread may call open(). One thread calls set_open(), in the order of the trace.
  bool open() const { return open_.load(std::memory_order_relaxed); }
  void set_open(bool open) { open_.store(open, std::memory_order_relaxed); }

 private:
  const Selection& selection_;
  TracePlace begin_;
  std::atomic<bool> open_ = false;
};

}  // namespace htmtrace

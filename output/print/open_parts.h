// SPDX-License-Identifier: GPL-2.0-or-later
// State that the parts of a trace share while several threads select from them.
#pragma once

#include <atomic>

#include "core/core_trace/sink.h"
#include "core/selection/selection.h"

namespace htmtrace {

// The threads do not know the position of a part while they decode it. They assume that the
// conditions on positions have the same result as after the last delivered part. If the assumption
// is wrong (Selector::can_follow()), ParallelDecode decodes the part again, in order.
class OpenParts {
 public:
  // Requires selection.has_parts(). `selection` must outlive this object. `begin` is the position
  // of the first event.
  OpenParts(const Selection& selection, const TracePlace& begin)
      : selection_(selection), begin_(begin) {
    Selector selector(selection);
    selector.begin_at(begin);
    open_ = selector.is_open();
  }

  const Selection& selection() const { return selection_; }
  const TracePlace& begin() const { return begin_; }

  // The assumption for the next part: its events satisfy the conditions on positions. Any thread
  // may call open(). One thread calls set_open(), in the order of the trace.
  bool open() const { return open_.load(std::memory_order_relaxed); }
  void set_open(bool open) { open_.store(open, std::memory_order_relaxed); }

 private:
  const Selection& selection_;
  TracePlace begin_;
  std::atomic<bool> open_ = false;
};

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
// Drains all targets at the same time, each by a thread on its carrier CPU: there a read(2) of the
// event needs no interrupt to another CPU.
#pragma once

#include <atomic>
#include <deque>
#include <thread>
#include <vector>

#include "cli/target_recorder.h"
#include "ringbuf/fd.h"

namespace htmtrace {

class ParallelDrain {
 public:
  // Starts. `recorders` outlive this object.
  explicit ParallelDrain(std::deque<TargetRecorder>& recorders);
  // Waits for all of them.
  ~ParallelDrain();
  ParallelDrain(const ParallelDrain&) = delete;
  ParallelDrain& operator=(const ParallelDrain&) = delete;

  // Readable once all targets are drained. -1 when there is no such descriptor to be had.
  int fd() const { return done_.get(); }
  bool done() const { return left_.load(std::memory_order_acquire) == 0; }

  // What has not come yet shall be given up; the threads then end soon.
  void give_up() { give_up_.store(true, std::memory_order_relaxed); }

 private:
  void drain(TargetRecorder& recorder);

  Fd done_;
  std::atomic<bool> give_up_{false};
  std::atomic<size_t> left_;
  std::vector<std::thread> threads_;
};

}  // namespace htmtrace

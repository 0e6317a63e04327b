// SPDX-License-Identifier: GPL-2.0-or-later
// Drains all targets at the same time, each with a thread on its carrier CPU, where a read(2) of
// the event needs no interrupt to another CPU.
#pragma once

#include <atomic>
#include <deque>
#include <thread>
#include <vector>

#include "cli/record/target_recorder.h"
#include "core/base/fd.h"

namespace htmtrace {

class ParallelDrain {
 public:
  // Starts the threads. `recorders` outlive this object.
  explicit ParallelDrain(std::deque<TargetRecorder>& recorders);
  // Waits for all threads.
  ~ParallelDrain();
  ParallelDrain(const ParallelDrain&) = delete;
  ParallelDrain& operator=(const ParallelDrain&) = delete;

  // Readable after all targets are drained. -1 if no such descriptor is available.
  int fd() const { return done_.get(); }
  bool done() const { return left_.load(std::memory_order_acquire) == 0; }

  // Abandons the remaining data, so that the threads end soon.
  void give_up() { give_up_.store(true, std::memory_order_relaxed); }

 private:
  void drain(TargetRecorder& recorder);

  Fd done_;
  std::atomic<bool> give_up_{false};
  std::atomic<size_t> left_;
  std::vector<std::thread> threads_;
};

}  // namespace htmtrace

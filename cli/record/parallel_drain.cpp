// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/record/parallel_drain.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <system_error>

#include "cli/affinity.h"

namespace htmtrace {
ParallelDrain::ParallelDrain(std::deque<TargetRecorder>& recorders)
    : done_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), left_(recorders.size()) {
  threads_.reserve(recorders.size());
  for (TargetRecorder& recorder : recorders) {
    try {
      threads_.emplace_back([this, &recorder] {
        // A failure, for example because of a cpuset, costs only speed.
        bind_to_cpus(0, {recorder.facts().carrier_cpu});
        drain(recorder);
      });
    } catch (const std::system_error&) {
      drain(recorder);  // cannot start another thread; drain here
    }
  }
}

ParallelDrain::~ParallelDrain() {
  for (std::thread& thread : threads_) thread.join();
}

void ParallelDrain::drain(TargetRecorder& recorder) {
  recorder.drain(give_up_);
  if (left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  const uint64_t one = 1;
  // The write fails only if the descriptor is already readable.
  [[maybe_unused]] const ssize_t told = ::write(done_.get(), &one, sizeof(one));
}

}  // namespace htmtrace

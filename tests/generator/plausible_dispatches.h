// SPDX-License-Identifier: GPL-2.0-or-later
// Dispatch trace log entries of a virtual processor that is busy and idle by turns: waits are
// mostly short, some a thousand times longer; it is at home on one processor and seldom elsewhere.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "core/dispatch_log/entry.h"

namespace htmtrace::generator {

class PlausibleDispatches {
 public:
  explicit PlausibleDispatches(unsigned seed) : random_(seed), home_(0x1000 + seed % 64) {}

  DtlEntry next() {
    const bool cede = below(3) != 0;
    DtlEntry entry;
    entry.preempt_reason = cede ? 2 : 4;  // H_CEDE, time_slice
    entry.dispatch_reason = cede ? (below(3) == 0 ? 0 : 3) : 7;
    entry.processor_id = static_cast<uint16_t>(below(8) == 0 ? 0x1000 + below(64) : home_);
    entry.enqueue_to_dispatch = wait(1000);
    entry.ready_to_enqueue = static_cast<uint32_t>(below(100));
    entry.waiting_to_ready = cede ? static_cast<uint32_t>(below(400'000)) : 0;
    timebase_ += below(500'000) + 1;
    entry.timebase = timebase_;
    entry.srr0 = cede ? 0xc0000000000f1234 : 0xc000000000010000 + below(256) * 64;
    entry.srr1 = 0x8000000000009033;
    return entry;
  }

 private:
  uint64_t below(uint64_t limit) { return random_() % limit; }
  uint32_t wait(uint64_t usual) {
    uint64_t time = below(usual) + 1;
    while (time < usual * 1000 && below(4) == 0) time *= 3;
    return static_cast<uint32_t>(time);
  }

  std::mt19937_64 random_;
  uint64_t home_;
  uint64_t timebase_ = 1'000'000'000;
};

}  // namespace htmtrace::generator

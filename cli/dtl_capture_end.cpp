// SPDX-License-Identifier: GPL-2.0-or-later
// How a recording of the dispatch trace log ends: with all that the hypervisor had written by then.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>

#include "cli/dtl_capture.h"
#include "cli/messages.h"
#include "ringbuf/timebase.h"

namespace htmtrace {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

// Who reads at all lets nobody wait for so long.
constexpr milliseconds kStalled{200};
// The driver's timer may be late on a busy CPU.
constexpr milliseconds kLateAtMost{200};
// So often the hypervisor's counters are read at the end; see core/dtl_proof.h.
constexpr int kReadings = 8;
constexpr milliseconds kBetweenReadings{1};

}  // namespace

// The recording ends at the moment when the hypervisor's counters are read. What the log held then
// comes with the driver's next look at it; disabling the event first would lose that.
void DtlCapture::settle_end() {
  ended_ = steady_clock::now();
  end_unread();
  for (int i = 0; i < kReadings; i++) {
    if (i != 0) std::this_thread::sleep_for(kBetweenReadings);
    read_counters(i == kReadings - 1);
  }
  wait_for_rest();
  for (const auto& group : groups_) {
    const std::lock_guard held(group->lock);
    for (Cpu* cpu : group->cpus) cpu->off = cpu->drain.ended() || !cpu->source.alive();
  }
}

// A thread that waits for a reader holds what all of this needs. Nothing more is to be logged
// meanwhile; what that loses the hypervisor's index tells.
void DtlCapture::end_unread() {
  if (output_->waiting() < kStalled) return;
  if (!asked_to_end_) print_note("nobody reads standard output; Ctrl-C gives up what is left");
  std::this_thread::sleep_for(nanoseconds(period_ns_));
  for (const auto& cpu : cpus_) cpu->source.disable();
}

void DtlCapture::read_counters(bool last) {
  for (const auto& group : groups_) {
    for (Cpu* cpu : group->cpus) {
      const std::lock_guard held(group->lock);
      const uint64_t begin = timebase_now();
      const auto counters = cpu->area.read();
      const uint64_t end = timebase_now();
      if (last) cpu->intake.set_end(end);
      if (!counters) continue;
      cpu->at_end = counters;
      cpu->intake.proof().add_reading(begin, counters->log_index, end);
    }
  }
}

void DtlCapture::wait_for_rest() {
  const nanoseconds period(period_ns_);
  const auto give_up = steady_clock::now() + 2 * period + kLateAtMost;
  std::this_thread::sleep_for(period);
  while (!caught_up() && !failed_ && steady_clock::now() < give_up) {
    std::this_thread::sleep_for(milliseconds(1));
  }
}

// Everything is there that the hypervisor says it had written.
bool DtlCapture::caught_up() {
  return std::ranges::all_of(groups_, [](const auto& group) {
    const std::lock_guard held(group->lock);
    return std::ranges::all_of(group->cpus, [](const Cpu* cpu) {
      return cpu->at_end && cpu->intake.proof().taken() >= cpu->at_end->log_index;
    });
  });
}

void DtlCapture::stop() {
  for (const auto& group : groups_) group->thread.request_stop();
  for (const auto& group : groups_) group->thread.join();
  for (const auto& cpu : cpus_) {
    cpu->source.disable();
    if (cpu->switches) cpu->switches->disable();
  }
}

// A workload that outlives the recording is asked to end, and made to when it does not.
void DtlCapture::end_workload() {
  if (workload_ && workload_->end(signals_, [this] { return take_signals(); })) {
    print_note(fmt::format("{} did not end; killed it", workload_->command().front()));
  }
}

}  // namespace htmtrace

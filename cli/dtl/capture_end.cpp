// SPDX-License-Identifier: GPL-2.0-or-later
// The end of a recording of the dispatch trace log: drains all entries that the hypervisor had
// written.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>

#include "cli/dtl/capture.h"
#include "cli/messages.h"
#include "core/base/timebase.h"

namespace htmtrace {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

// A working reader of standard output never makes a thread wait for this time.
constexpr milliseconds kStalled{200};
// The driver's timer may be late on a busy CPU.
constexpr milliseconds kLateAtMost{200};
// The number of readings of the hypervisor's counters at the end: core/dispatch_log/proof.h.
constexpr int kReadings = 8;
constexpr milliseconds kBetweenReadings{1};

}  // namespace

// The recording ends when htmtrace reads the hypervisor's counters. The driver's next read of the
// log delivers the entries up to that time. Disabling the event first would lose them.
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

// Ends the logging if the reader of standard output is stalled: the waiting thread holds a lock
// that the following steps need. The hypervisor's index shows the entries that this loses.
void DtlCapture::end_unread() {
  if (output_->waiting() < kStalled) return;
  if (!asked_to_end_)
    print_note("the reader of standard output is stalled; Ctrl-C drops the remaining entries");
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
      if (last) {
        cpu->intake.set_end(end);
        cpu->announced = cpu->drain.totals().announced_entries;
      }
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
    look_without_threads();
    std::this_thread::sleep_for(milliseconds(1));
  }
}

// Returns true if all entries that the hypervisor had written have arrived.
bool DtlCapture::caught_up() {
  return std::ranges::all_of(groups_, [](const auto& group) {
    const std::lock_guard held(group->lock);
    return std::ranges::all_of(group->cpus, [](const Cpu* cpu) {
      return cpu->at_end && cpu->intake.proof().taken() >= cpu->at_end->log_index;
    });
  });
}

void DtlCapture::stop() {
  for (const auto& group : groups_) {
    if (group->thread) group->thread->request_stop();
  }
  for (const auto& group : groups_) {
    if (group->thread) group->thread->join();
  }
  for (const auto& cpu : cpus_) {
    cpu->source.disable();
    if (cpu->switches) cpu->switches->disable();
  }
}

// Asks a workload that outlives the recording to end, and kills it after a timeout.
void DtlCapture::end_workload() {
  if (!workload_) return;
  const std::string note = workload_->end(signals_, [this] { return cut_short(); });
  if (!note.empty()) print_note(note);
}

}  // namespace htmtrace

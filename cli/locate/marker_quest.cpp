// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/locate/marker_quest.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <thread>
#include <utility>

#include "pmu/htm_errors.h"
#include "pmu/htm_event.h"

namespace htmtrace {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// A trace of a few milliseconds needs little room, and many cores are traced at once.
constexpr RingSizes kSmallRings = {.data_bytes = 256 << 10, .aux_bytes = 256 << 10};

constexpr milliseconds kLeastTrace{2};
// Of two rounds that end during a trace, one also began during it.
constexpr uint64_t kEnoughRounds = 2;

constexpr milliseconds kBatchBeginLimit{10'000};
constexpr milliseconds kMarkerPause{1};

// Returns the carrier CPUs, those without a marker first: the driver's work on a carrier CPU would
// delay a marker there.
std::vector<int> carriers_beside(const MarkerQuest::Loops& loops) {
  std::vector<int> cpus = carrier_candidates();
  std::stable_partition(cpus.begin(), cpus.end(), [&](int cpu) {
    return std::ranges::none_of(loops, [&](const auto& loop) { return loop->cpu() == cpu; });
  });
  return cpus;
}

}  // namespace

// The limits of each trace. A trace is longer than kLeastTrace if other tasks use the CPU of a
// marker. All traces of a batch begin at about the same time, so one limit of bytes fits them all.
struct MarkerQuest::Attempt {
  milliseconds most;  // time
  uint64_t most_bytes;
};

MarkerQuest::MarkerQuest(const PmuDescription& pmu, const std::vector<Marker>& markers,
                         const Loops& loops, std::vector<TraceTarget> candidates)
    : pmu_(pmu),
      markers_(markers),
      loops_(loops),
      candidates_(std::move(candidates)),
      cores_(markers.size()) {}

bool MarkerQuest::all_found() const {
  return std::ranges::all_of(cores_, [](const auto& cores) { return cores.size() == 1; });
}

// Other tasks may use the CPU during a short trace, so each further attempt is longer.
void MarkerQuest::run() {
  constexpr std::array kAttempts = {Attempt{milliseconds(50), uint64_t{4} << 20},
                                    Attempt{milliseconds(200), uint64_t{32} << 20},
                                    Attempt{milliseconds(800), uint64_t{256} << 20}};
  for (const Attempt& attempt : kAttempts) {
    for (size_t next = 0; next < candidates_.size();) {
      Batch batch = open_batch(next);
      const size_t before = candidates_.size();
      trace(batch, attempt);
      next -= before - candidates_.size();  // a core of this batch may have been skipped
      if (all_found()) return;
    }
  }
  if (!candidates_.empty() || !first_refusal_) return;
  throw first_refusal_->about("cannot trace any core");
}

// Configures the next candidates. A candidate that cannot be configured is skipped.
MarkerQuest::Batch MarkerQuest::open_batch(size_t& next) {
  Batch batch;
  std::vector<int> carriers = carriers_beside(loops_);
  while (next < candidates_.size() && !carriers.empty()) {
    const TraceTarget target = candidates_[next];
    try {
      HtmSource source(htm_event_attr(pmu_, target), target, carriers, /*wraps=*/false,
                       /*own_driver=*/true);
      MapFailure failure;
      if (!source.map_rings(kSmallRings, failure)) {
        if (batch.empty()) throw failure.explain();
        break;  // the limit of locked memory is reached; the next batch has room
      }
      std::erase(carriers, source.carrier_cpu());
      batch.push_back(std::make_unique<TargetTrace>(std::move(source), markers_));
      next++;
    } catch (const Error& error) {
      skip(target, error);
    }
  }
  return batch;
}

void MarkerQuest::skip(const TraceTarget& target, const Error& error) {
  if (!first_refusal_) first_refusal_ = error;
  const std::string reasons = stated_reasons(error);
  skipped_.push_back({target, reasons.empty() ? error.what() : reasons});
  std::erase(candidates_, target);
}

// The markers run only during the trace, because they take CPU time from other tasks.
void MarkerQuest::trace(Batch& batch, const Attempt& attempt) {
  for (const auto& loop : loops_) loop->resume();
  start(batch);
  await_markers(attempt.most);
  for (const auto& loop : loops_) loop->pause();
  read(batch, attempt.most_bytes);
  note_cores(batch);
}

// Returns when all cores of the batch are traced. Drops a core whose trace does not begin.
void MarkerQuest::start(Batch& batch) {
  for (const auto& trace : batch) trace->start();
  const auto give_up = Clock::now() + kBatchBeginLimit;
  std::erase_if(batch, [&](const auto& trace) {
    try {
      while (!trace->begun()) {
        if (Clock::now() >= give_up) throw Error("the hypervisor stays busy");
        std::this_thread::sleep_for(kMarkerPause);
      }
      return false;
    } catch (const Error& error) {
      skip(trace->target(), error);
      return true;
    }
  });
}

void MarkerQuest::await_markers(milliseconds most) const {
  std::vector<uint64_t> before;
  before.reserve(loops_.size());
  for (const auto& loop : loops_) before.push_back(loop->rounds());
  const auto all_ran = [&] {
    for (size_t i = 0; i < loops_.size(); i++) {
      if (!is_found(i) && loops_[i]->rounds() < before[i] + kEnoughRounds) return false;
    }
    return true;
  };
  const auto give_up = Clock::now() + most;
  std::this_thread::sleep_for(kLeastTrace);
  while (!all_ran() && Clock::now() < give_up) std::this_thread::sleep_for(kMarkerPause);
}

// Reads the traces in turn. The first read of a trace ends its tracing.
void MarkerQuest::read(Batch& batch, uint64_t most_bytes) {
  std::vector<TargetTrace*> unread;
  for (const auto& trace : batch) unread.push_back(trace.get());
  while (!unread.empty()) {
    std::erase_if(unread, [&](TargetTrace* trace) {
      try {
        return !trace->read_part() || trace->read_bytes() >= most_bytes;
      } catch (const Error& error) {
        skip(trace->target(), error);
        return true;
      }
    });
  }
}

void MarkerQuest::note_cores(const Batch& batch) {
  for (size_t i = 0; i < markers_.size(); i++) {
    if (is_found(i)) continue;
    std::vector<TraceTarget> cores;
    for (const auto& trace : batch) {
      if (trace->passes(i) != 0) cores.push_back(trace->target());
    }
    if (!cores.empty()) cores_[i] = std::move(cores);
  }
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/locate/marker_quest.h"

#include <fmt/core.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <thread>
#include <utility>

#include "cli/capture/htm_source.h"
#include "cli/locate/marker_run.h"
#include "cli/locate/target_trace.h"
#include "core/analysis/marker.h"
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

uint32_t random_bits() {
  uint32_t bits = 0;
  if (::getrandom(&bits, sizeof(bits), 0) != sizeof(bits)) {
    throw Error("cannot make a random marker", errno);
  }
  return bits;
}

}  // namespace

// The limits of each trace. A trace is longer than kLeastTrace if other tasks use the CPU of a
// marker. All traces of a batch begin at about the same time, so one limit of bytes fits them all.
struct MarkerQuest::Attempt {
  milliseconds most;  // time
  uint64_t most_bytes;
};

// The CPU, the marker and the run with the same index belong together.
struct MarkerQuest::Batch {
  std::vector<CpuSighting*> cpus = {};
  std::vector<Marker> markers = {};
  std::vector<std::unique_ptr<TargetTrace>> traces = {};
  std::vector<std::unique_ptr<MarkerRun>> runs = {};  // null if no marker can run on the CPU
};

MarkerQuest::MarkerQuest(const PmuDescription& pmu, const std::vector<int>& cpus,
                         std::vector<TraceTarget> candidates)
    : pmu_(pmu), candidates_(std::move(candidates)) {
  sightings_.reserve(cpus.size());
  for (const int cpu : cpus) sightings_.push_back({.cpu = cpu});
}

bool MarkerQuest::all_done() const {
  return std::ranges::all_of(
      sightings_, [](const CpuSighting& sighting) { return sighting.found() || sighting.error; });
}

// The driver's work on a carrier CPU would delay a marker there, and a carrier CPU that goes
// offline ends its trace.
std::vector<int> MarkerQuest::carriers() const {
  const std::vector<int> all = carrier_candidates();
  std::vector<int> others = all;
  std::erase_if(others, [&](int cpu) {
    return std::ranges::find(sightings_, cpu, &CpuSighting::cpu) != sightings_.end();
  });
  return others.empty() ? all : others;
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
      if (all_done()) return;
    }
  }
  if (!candidates_.empty() || !first_refusal_) return;
  throw first_refusal_->about("cannot trace any core");
}

// Configures the next candidates. A candidate that cannot be configured is skipped.
MarkerQuest::Batch MarkerQuest::open_batch(size_t& next) {
  Batch batch;
  for (CpuSighting& sighting : sightings_) {
    if (!sighting.found() && !sighting.error) batch.cpus.push_back(&sighting);
  }
  batch.markers = make_markers(batch.cpus.size(), random_bits);
  std::vector<int> free = carriers();
  while (next < candidates_.size() && !free.empty()) {
    const TraceTarget target = candidates_[next];
    try {
      HtmSource source(htm_event_attr(pmu_, target), target, free, /*wraps=*/false,
                       /*own_driver=*/true);
      MapFailure failure;
      if (!source.map_rings(kSmallRings, failure)) {
        if (batch.traces.empty()) throw failure.explain();
        break;  // the limit of locked memory is reached; the next batch has room
      }
      std::erase(free, source.carrier_cpu());
      batch.traces.push_back(std::make_unique<TargetTrace>(std::move(source), batch.markers));
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
  if (batch.traces.empty()) return;
  start_markers(batch);
  if (std::ranges::none_of(batch.runs, [](const auto& run) { return run != nullptr; })) return;
  start_traces(batch);
  await_markers(batch, attempt.most);
  for (const auto& run : batch.runs) {
    if (run) run->stop();
  }
  read(batch, attempt.most_bytes);
  note_cores(batch);
}

void MarkerQuest::start_markers(Batch& batch) {
  for (size_t i = 0; i < batch.cpus.size(); i++) {
    CpuSighting& sighting = *batch.cpus[i];
    try {
      batch.runs.push_back(std::make_unique<MarkerRun>(sighting.cpu, batch.markers[i]));
    } catch (const Error& error) {
      batch.runs.push_back(nullptr);
      sighting.error = error.about(fmt::format("cannot locate cpu {}", sighting.cpu));
    }
  }
}

// Returns when all cores of the batch are traced. Drops a core whose trace does not begin.
void MarkerQuest::start_traces(Batch& batch) {
  for (const auto& trace : batch.traces) trace->start();
  const auto give_up = Clock::now() + kBatchBeginLimit;
  std::erase_if(batch.traces, [&](const auto& trace) {
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

void MarkerQuest::await_markers(const Batch& batch, milliseconds most) {
  std::vector<std::pair<const MarkerRun*, uint64_t>> goals;
  for (const auto& run : batch.runs) {
    if (run) goals.emplace_back(run.get(), run->rounds() + kEnoughRounds);
  }
  const auto all_ran = [&] {
    return std::ranges::all_of(
        goals, [](const auto& goal) { return goal.first->rounds() >= goal.second; });
  };
  const auto give_up = Clock::now() + most;
  std::this_thread::sleep_for(kLeastTrace);
  while (!all_ran() && Clock::now() < give_up) std::this_thread::sleep_for(kMarkerPause);
}

// Reads the traces in turn. The first read of a trace ends its tracing.
void MarkerQuest::read(Batch& batch, uint64_t most_bytes) {
  std::vector<TargetTrace*> unread;
  for (const auto& trace : batch.traces) unread.push_back(trace.get());
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

// The stamp is compared after the traces have been read, so that the traces and the answer are of
// the same state of the machine.
void MarkerQuest::note_cores(const Batch& batch) {
  for (size_t i = 0; i < batch.cpus.size(); i++) {
    CpuSighting& sighting = *batch.cpus[i];
    if (!batch.runs[i]) continue;
    std::vector<TraceTarget> cores;
    for (const auto& trace : batch.traces) {
      if (trace->passes(i) != 0) cores.push_back(trace->target());
    }
    const auto stamp = batch.runs[i]->undisturbed_stamp();
    if (!stamp) sighting.disturbed = true;
    if (!stamp || cores.empty()) continue;
    sighting.cores = std::move(cores);
    sighting.stamp = *stamp;
  }
}

}  // namespace htmtrace

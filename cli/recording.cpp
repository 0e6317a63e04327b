// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/recording.h"

#include <fmt/core.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

#include "cli/commands.h"
#include "cli/report.h"

namespace htmtrace {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

constexpr milliseconds kTick{1000};
// How long a workload that was asked to end may take.
constexpr milliseconds kWorkloadGrace{5'000};

}  // namespace

Recording::Recording(const RecordOptions& options, const std::vector<HtmSource>& sources,
                     Signals& signals)
    : options_(options),
      sources_(sources),
      signals_(signals),
      capture_(sources, options.folder, options.existing),
      progress_(stderr) {}

int Recording::run() {
  start();
  try {
    ending_ = wait();
  } catch (const Error& error) {
    fail(error);
  }
  drain();
  end_workload();
  capture_.settle(workload_facts(), troubles_, !troubles_.empty());
  return report();
}

void Recording::start() {
  try {
    if (!options_.workload.empty()) workload_.emplace(options_.workload, signals_);
    capture_.start();
    if (workload_) workload_->start();
  } catch (...) {
    capture_.discard();
    throw;
  }
}

Recording::Ending Recording::wait() {
  const auto start = steady_clock::now();
  const auto left = [&]() -> std::optional<nanoseconds> {
    if (!options_.duration) return std::nullopt;
    return std::max(nanoseconds(0), *options_.duration - (steady_clock::now() - start));
  };
  std::vector<pollfd> waited_for{pollfd{signals_.fd(), POLLIN, 0}};
  // No events asked for on the perf events: the error state is always told.
  for (const HtmSource& source : sources_) waited_for.push_back({source.event().get(), 0, 0});
  while (true) {
    const auto remaining = left();
    if (remaining == nanoseconds(0)) return Ending::kDuration;
    progress_.recording(remaining);
    const nanoseconds pause = std::min<nanoseconds>(remaining.value_or(kTick), kTick);
    timespec wait_for{};
    wait_for.tv_sec = std::chrono::duration_cast<std::chrono::seconds>(pause).count();
    wait_for.tv_nsec = (pause % std::chrono::seconds(1)).count();
    const int ready = ::ppoll(waited_for.data(), waited_for.size(), &wait_for, nullptr);
    if (take_signals()) return Ending::kSignal;
    if (workload_ && workload_->ended()) return Ending::kWorkloadEnded;
    const bool told = std::any_of(waited_for.begin() + 1, waited_for.end(),
                                  [](const pollfd& event) { return event.revents != 0; });
    if ((ready == 0 || told) && capture_.gone()) return Ending::kEventGone;
  }
}

// True when one of the signals asks to end.
bool Recording::take_signals() {
  bool end = false;
  while (const auto signal = signals_.next()) {
    if (signal->number == SIGCHLD) continue;
    end = true;
    end_requests_++;
    ending_signal_ = signal->number;
    // From the terminal the workload has had it too.
    if (workload_ && !signal->from_terminal) workload_->send(signal->number);
  }
  return end;
}

// Takes the trace of every target out, in the background; here people are told how it gets on.
void Recording::drain() {
  capture_.stopped();
  ParallelDrain drain(capture_.recorders());
  const int requests_before = end_requests_;
  std::array<pollfd, 2> waited_for{pollfd{signals_.fd(), POLLIN, 0}, pollfd{drain.fd(), POLLIN, 0}};
  while (!drain.done()) {
    ::poll(waited_for.data(), waited_for.size(), kTick.count());
    take_signals();
    if (end_requests_ > requests_before) drain.give_up();
    const TargetRecorder::State state = capture_.state();
    progress_.draining(state.drained_bytes, state.expected_bytes, state.losses);
  }
}

// A workload that outlives the recording is asked to end, and made to when it does not.
void Recording::end_workload() {
  if (!workload_ || workload_->ended()) return;
  if (ending_signal_ == 0) {
    ending_signal_ = SIGTERM;
    workload_->send(SIGTERM);
  }
  const auto give_up = steady_clock::now() + kWorkloadGrace;
  while (!workload_->ended() && steady_clock::now() < give_up) {
    pollfd query{signals_.fd(), POLLIN, 0};
    ::poll(&query, 1, 100);
    if (take_signals()) break;
  }
  if (workload_->ended()) return;
  progress_.clear();
  print_note(fmt::format("{} does not end; killing it", workload_->command().front()));
  ending_signal_ = SIGKILL;
  workload_->send(SIGKILL);
  workload_->wait_end();
}

std::optional<Manifest::Workload> Recording::workload_facts() const {
  if (!workload_) return std::nullopt;
  return Manifest::Workload{.command = workload_->command(),
                            .pid = workload_->pid(),
                            .exit_status = workload_->exit_status(),
                            .signal = workload_->killed_by()};
}

// Errors first, the sum last. Returns the exit status.
int Recording::report() {
  progress_.clear();
  for (const Error& error : capture_.troubles()) print_error(error);
  const bool asked_to_end = ending_ != Ending::kWorkloadEnded;
  const auto killed_by = workload_ ? workload_->killed_by() : std::nullopt;
  const bool died = killed_by && !(asked_to_end && *killed_by == ending_signal_);
  if (died) {
    print_error(Error(fmt::format("the workload was killed by signal {} ({})", *killed_by,
                                  ::strsignal(*killed_by)))
                    .on(fmt::format("workload: {}", workload_->command().front()))
                    .hint("the trace up to that moment is saved"));
  }
  for (const std::string& line : capture_.summary()) print_note(line);
  const Manifest::State state = capture_.manifest().state;
  if (state == Manifest::State::kFailed) return kExitFailed;
  if (state == Manifest::State::kIncomplete) {
    return options_.strict ? kExitFailed : kExitIncomplete;
  }
  if (died) return 128 + *killed_by;
  return workload_ ? workload_->exit_status().value_or(kExitDone) : kExitDone;
}

void Recording::fail(const Error& error) {
  troubles_.push_back(error);
}

}  // namespace htmtrace

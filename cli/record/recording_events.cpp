// SPDX-License-Identifier: GPL-2.0-or-later
// The events of a running recording: signals, commands, the end of its time or of its workload.
#include <fmt/core.h>
#include <poll.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "cli/messages.h"
#include "cli/record/recording.h"

namespace htmtrace {

using std::chrono::nanoseconds;
using namespace std::chrono_literals;

Recording::Ending Recording::wait(std::optional<Clock::time_point> until) {
  const int control = control_ != nullptr ? control_->fd() : -1;
  std::vector<pollfd> waited_for{pollfd{signals_.fd(), POLLIN, 0}, pollfd{control, POLLIN, 0}};
  // poll() always reports the error state, so the perf events need no other event.
  if (tracing_) {
    for (const HtmSource& source : sources_) waited_for.push_back({source.event().get(), 0, 0});
  }
  while (true) {
    if (const auto ending = obey_commands()) return *ending;
    std::optional<nanoseconds> left;
    if (until) left = std::max(nanoseconds(0), nanoseconds(*until - Clock::now()));
    if (left == nanoseconds(0)) return Ending::kTime;
    progress_.recording(left);
    look_at_pages();
    save_first_maps();
    if (account_) account_->look();
    nanoseconds pause = std::min<nanoseconds>(left.value_or(kTick), kTick);
    if (next_look_) pause = std::clamp<nanoseconds>(*next_look_ - Clock::now(), 0ns, pause);
    timespec wait_for{};
    wait_for.tv_sec = std::chrono::duration_cast<std::chrono::seconds>(pause).count();
    wait_for.tv_nsec = (pause % std::chrono::seconds(1)).count();
    const int ready = ::ppoll(waited_for.data(), waited_for.size(), &wait_for, nullptr);
    if (take_signals()) return Ending::kSignal;
    if (workload_ && workload_->ended()) return Ending::kWorkloadEnded;
    if (waited_for[1].revents != 0) {
      control_->receive();
      waited_for[1].fd = control_->fd();
    }
    if (tracing_ && std::exchange(snapshot_wanted_, false)) return Ending::kSnapshot;
    const bool told = std::any_of(waited_for.begin() + 2, waited_for.end(),
                                  [](const pollfd& event) { return event.revents != 0; });
    if (tracing_ && !disabled_ && (ready == 0 || told) && capture_->gone()) {
      return Ending::kEventGone;
    }
  }
}

// True when one of the signals asks to end.
bool Recording::take_signals() {
  bool end = false;
  while (const auto signal = signals_.next()) {
    if (signal->number == SIGCHLD) continue;
    if (signal->number == SIGUSR2) {
      ask_for_snapshot();
      continue;
    }
    end = true;
    end_requests_++;
    if (!ended_by_) ended_by_ = signal->number;
    if (workload_) workload_->pass_on(*signal);
  }
  return end;
}

// Commands that follow the end of a trace apply to the next trace.
std::optional<Recording::Ending> Recording::obey_commands() {
  if (control_ == nullptr) return std::nullopt;
  while (const auto command = control_->next()) {
    if (const auto ending = obey(*command)) return ending;
  }
  return std::nullopt;
}

// htmtrace acknowledges a command after it is done: `enable` after the trace has started; for
// `snapshot` see answer_snapshot().
std::optional<Recording::Ending> Recording::obey(ControlChannel::Command command) {
  switch (command) {
    case ControlChannel::Command::kPing:
      control_->acknowledge();
      return std::nullopt;
    case ControlChannel::Command::kStop:
      control_->acknowledge();
      return Ending::kToldToEnd;
    case ControlChannel::Command::kSnapshot:
      snapshot_answered_ = !(options_.source.wrap && tracing_);
      if (!snapshot_answered_) return Ending::kSnapshot;
      control_->refuse(tracing_ ? "only a flight recorder (--wrap) makes snapshots"
                                : "no trace is running");
      return std::nullopt;
    case ControlChannel::Command::kEnable:
      begin_acknowledged_ = tracing_;
      if (!tracing_) return Ending::kToldToBegin;
      set_enabled(true);
      control_->acknowledge();
      return std::nullopt;
    case ControlChannel::Command::kDisable:
      if (tracing_) set_enabled(false);
      control_->acknowledge();
      return std::nullopt;
  }
  return std::nullopt;
}

// htmtrace's driver continues the same trace when it is enabled again.
void Recording::set_enabled(bool enabled) {
  if (enabled != disabled_) return;
  for (const HtmSource& source : sources_) {
    if (enabled)
      source.enable();
    else
      source.disable();
  }
  disabled_ = !enabled;
}

void Recording::ask_for_snapshot() {
  snapshot_wanted_ = options_.source.wrap;
  if (snapshot_wanted_) return;
  progress_.clear();
  print_note("SIGUSR2 has no effect: only a flight recorder (--wrap) makes snapshots");
}

// Call it after the snapshot was saved and the next trace, if any, has started. The next trace then
// contains the later actions of the other side.
void Recording::answer_snapshot() {
  if (std::exchange(snapshot_answered_, true)) return;
  if (troubles_.empty() && sum_.failed() == 0) return control_->acknowledge();
  control_->refuse(
      "htmtrace did not save it, or cannot start another trace; see the messages of htmtrace "
      "record");
}

}  // namespace htmtrace

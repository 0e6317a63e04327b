// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/record/wait_loop.h"

#include <fmt/core.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <utility>

#include "cli/capture/watched_work.h"
#include "cli/messages.h"
#include "cli/record/parallel_drain.h"
#include "core/base/error.h"

namespace htmtrace {
namespace {

using std::chrono::nanoseconds;
using namespace std::chrono_literals;

// The time until the next check.
constexpr std::chrono::milliseconds kTick{1000};
// Pauses between checks for the begin of a trace grow from the first to the longest. The driver
// waits for a busy hypervisor for up to 10 s in each operation: DECONFIGURE twice, CONFIGURE and
// START.
constexpr std::chrono::milliseconds kFirstBeginPause{1}, kLongestBeginPause{50};
constexpr std::chrono::seconds kBeginLimit{60};

}  // namespace

WaitLoop::WaitLoop(const RecordOptions& options, const std::vector<HtmSource>& sources,
                   Signals& signals, ControlChannel* control, Workload* workload,
                   Progress& progress)
    : options_(options),
      sources_(sources),
      signals_(signals),
      control_(control),
      workload_(workload),
      progress_(progress) {}

bool WaitLoop::await_begin(Capture& trace) {
  const auto asked = Clock::now();
  bool told = false;
  pollfd signal{signals_.fd(), POLLIN, 0};
  for (auto pause = kFirstBeginPause; !trace.begun();
       pause = std::min(2 * pause, kLongestBeginPause)) {
    ::poll(&signal, 1, static_cast<int>(pause.count()));
    if (take_signals()) return false;
    const auto waited = Clock::now() - asked;
    if (waited >= kBeginLimit) {
      throw Error("cannot start the trace")
          .on(fmt::format("reason: the driver did not announce the start within {} s",
                          std::chrono::seconds(kBeginLimit).count()))
          .hint("reload the htm driver that belongs to this htmtrace: rmmod htm; modprobe htm");
    }
    if (waited >= kTick && !std::exchange(told, true) && !options_.script.quiet) {
      print_note("waiting for the hypervisor to start the trace");
    }
  }
  return true;
}

WaitLoop::Ending WaitLoop::wait(Capture* trace, std::optional<Clock::time_point> until,
                                const Look& look) {
  const int control = control_ != nullptr ? control_->fd() : -1;
  std::vector<pollfd> waited_for{pollfd{signals_.fd(), POLLIN, 0}, pollfd{control, POLLIN, 0}};
  // poll() always reports the error state, so the perf events need no other event.
  if (trace != nullptr) {
    for (const HtmSource& source : sources_) waited_for.push_back({source.event().get(), 0, 0});
  }
  while (true) {
    if (const auto ending = obey_commands(trace != nullptr)) return *ending;
    std::optional<nanoseconds> left;
    if (until) left = std::max(nanoseconds(0), nanoseconds(*until - Clock::now()));
    if (left == nanoseconds(0)) return Ending::kTime;
    progress_.recording(left);
    const auto next_look = look();
    nanoseconds pause = std::min<nanoseconds>(left.value_or(kTick), kTick);
    if (next_look) pause = std::clamp<nanoseconds>(*next_look - Clock::now(), 0ns, pause);
    timespec wait_for{};
    wait_for.tv_sec = std::chrono::duration_cast<std::chrono::seconds>(pause).count();
    wait_for.tv_nsec = (pause % std::chrono::seconds(1)).count();
    const int ready = ::ppoll(waited_for.data(), waited_for.size(), &wait_for, nullptr);
    if (take_signals()) return Ending::kSignal;
    if (workload_ != nullptr && workload_->ended()) return Ending::kWorkloadEnded;
    if (waited_for[1].revents != 0) {
      control_->receive();
      waited_for[1].fd = control_->fd();
    }
    if (trace == nullptr) continue;
    if (drop_snapshot()) return Ending::kSnapshot;
    const bool told = std::any_of(waited_for.begin() + 2, waited_for.end(),
                                  [](const pollfd& event) { return event.revents != 0; });
    if (!paused_ && (ready == 0 || told) && trace->gone()) return Ending::kEventGone;
  }
}

void WaitLoop::drain(Capture& trace, bool last) {
  ParallelDrain drain(trace.recorders());
  const int enough_requests = end_requests_ + (last ? 1 : 2);
  std::array<pollfd, 2> waited_for{pollfd{signals_.fd(), POLLIN, 0}, pollfd{drain.fd(), POLLIN, 0}};
  while (!drain.done()) {
    ::poll(waited_for.data(), waited_for.size(), kTick.count());
    take_signals();
    if (end_requests_ >= enough_requests) {
      drain.give_up();
      trace.give_up();
    }
    const TargetRecorder::State state = trace.state();
    progress_.draining(state.drained_bytes, state.expected_bytes, state.losses);
  }
}

void WaitLoop::watch_signals_during(const std::function<void()>& work,
                                    const std::function<void()>& give_up) {
  watch_during(work, [&] {
    if (cut_short()) give_up();
  });
}

void WaitLoop::end_workload() {
  if (workload_ == nullptr) return;
  const std::string note = workload_->end(signals_, [this] { return cut_short(); });
  if (note.empty()) return;
  progress_.clear();
  print_note(note);
}

bool WaitLoop::take_signals() {
  bool end = false;
  while (const auto signal = signals_.next()) {
    if (signal->number == SIGCHLD) continue;
    if (signal->number == SIGUSR2) {
      note_snapshot_signal();
      continue;
    }
    end = true;
    if (!signal->of_stop) end_requests_++;
    if (!ended_by_) ended_by_ = signal->number;
    if (workload_ != nullptr) workload_->pass_on(*signal);
  }
  return end;
}

bool WaitLoop::cut_short() {
  const int before = end_requests_;
  take_signals();
  return end_requests_ != before;
}

void WaitLoop::note_snapshot_signal() {
  snapshot_wanted_ = options_.source.wrap;
  if (snapshot_wanted_) return;
  progress_.clear();
  print_note("SIGUSR2 has no effect: only a flight recorder (--wrap) makes snapshots");
}

bool WaitLoop::drop_snapshot() {
  return std::exchange(snapshot_wanted_, false);
}

// Commands that follow the end of a trace apply to the next trace.
std::optional<WaitLoop::Ending> WaitLoop::obey_commands(bool tracing) {
  if (control_ == nullptr) return std::nullopt;
  while (const auto command = control_->next()) {
    if (const auto ending = obey(*command, tracing)) return ending;
  }
  return std::nullopt;
}

// htmtrace acknowledges a command after it is done.
std::optional<WaitLoop::Ending> WaitLoop::obey(ControlChannel::Command command, bool tracing) {
  switch (command) {
    case ControlChannel::Command::kPing:
      control_->acknowledge();
      return std::nullopt;
    case ControlChannel::Command::kStop:
      control_->acknowledge();
      return Ending::kStopCommand;
    case ControlChannel::Command::kSnapshot:
      if (options_.source.wrap && tracing) {
        unanswered_ = Unanswered::kSnapshot;
        return Ending::kSnapshot;
      }
      control_->refuse(tracing ? "only a flight recorder (--wrap) makes snapshots"
                               : "no trace is running");
      return std::nullopt;
    case ControlChannel::Command::kEnable:
      if (!tracing) {
        unanswered_ = Unanswered::kEnable;
        return Ending::kEnableCommand;
      }
      set_enabled(true);
      control_->acknowledge();
      return std::nullopt;
    case ControlChannel::Command::kDisable:
      if (tracing) set_enabled(false);
      control_->acknowledge();
      return std::nullopt;
  }
  return std::nullopt;
}

// htmtrace's driver continues the same trace when it is enabled again.
void WaitLoop::set_enabled(bool enabled) {
  if (enabled != paused_) return;
  for (const HtmSource& source : sources_) {
    if (enabled)
      source.enable();
    else
      source.disable();
  }
  paused_ = !enabled;
}

void WaitLoop::answer_enable() {
  if (unanswered_ != Unanswered::kEnable) return;
  unanswered_ = Unanswered::kNone;
  control_->acknowledge();
}

void WaitLoop::answer_snapshot(bool saved) {
  if (unanswered_ != Unanswered::kSnapshot) return;
  unanswered_ = Unanswered::kNone;
  if (saved) return control_->acknowledge();
  control_->refuse(
      "htmtrace did not save it, or cannot start another trace; see the messages of htmtrace "
      "record");
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
// The waits of a recording of the dispatch trace log, and what ends them: the time, signals,
// commands of --control, the workload, and the reader of standard output.
#include <fmt/core.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <ctime>
#include <mutex>
#include <string>
#include <utility>

#include "cli/capture/watched_work.h"
#include "cli/cpu_list.h"
#include "cli/dtl/capture.h"
#include "cli/messages.h"
#include "core/base/error.h"

namespace htmtrace {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

constexpr milliseconds kDtlTick{100};
constexpr std::chrono::seconds kHotplugTick{1};
// A change of the SMT mode switches many CPUs, one after another.
constexpr int kQuietHotplugTicks = 3;

}  // namespace

void DtlCapture::wait() {
  while (!output_->useless() && !failed_) {
    nanoseconds pause = kDtlTick;
    if (look_without_threads()) pause = milliseconds(kLookMilliseconds);
    std::optional<nanoseconds> left;
    if (options_.duration) {
      left = *options_.duration - (steady_clock::now() - started_);
      if (*left <= nanoseconds(0)) return;
      pause = std::min(pause, *left);
    }
    progress_.recording(left);
    if (cpus_changed()) return;
    update_metrics();
    rotate();
    if (top_) {
      if (top_->left() <= nanoseconds(0)) show_top();
      if (top_->done() || asked_to_end_) return;
      pause = std::min(pause, std::max(top_->left(), nanoseconds(1)));
    }
    timespec wait_for{};
    wait_for.tv_nsec = pause.count();
    std::array<pollfd, 2> arrived{pollfd{signals_.fd(), POLLIN, 0},
                                  pollfd{control_ != nullptr ? control_->fd() : -1, POLLIN, 0}};
    ::ppoll(arrived.data(), arrived.size(), &wait_for, nullptr);
    if (control_ != nullptr && arrived[1].revents != 0) control_->receive();
    if (take_signals() || obey_commands()) {
      asked_to_end_ = true;
      // A summary is printed later, and may still wait for its reader.
      if (options_.output.entries()) output_->give_up();
      return;
    }
    if (workload_ && workload_->ended()) return;
  }
}

// Returns true if the recording should end because the online CPUs have changed, and then stayed
// the same for kQuietHotplugTicks looks. A CPU that goes offline loses its event, even if it comes
// back, and a CPU that comes online has no event.
bool DtlCapture::cpus_changed() {
  const auto now = steady_clock::now();
  if (options_.end_unless_online.empty() || now < next_hotplug_check_) return false;
  next_hotplug_check_ = now + kHotplugTick;
  std::string online;
  try {
    online = online_cpu_list();
  } catch (const Error&) {
    return false;  // for example, no free descriptor; the next look may succeed
  }
  if (online != seen_online_) quiet_ticks_ = 0;
  seen_online_ = online;
  if (!quiet_ticks_ || ++*quiet_ticks_ < kQuietHotplugTicks) return false;
  progress_.clear();
  print_note(fmt::format("the online CPUs changed ({} at first, {} now): the recording ends",
                         options_.end_unless_online, online));
  return true;
}

void DtlCapture::show_top() {
  std::vector<DtlTopLine> lines;
  DtlClock clock;
  for (const auto& cpu : cpus_) {
    const std::lock_guard held(cpu->group->lock);
    lines.push_back(cpu->top->take(cpu->source.cpu(), cpu->drain.totals(), cpu->drain.ended()));
    if (cpu->drain.clock().ticks_per_second != 0) clock = cpu->drain.clock();
  }
  const std::string screen = top_->screen(clock, std::move(lines));
  watch_signals_during([&] { output_->show(screen); });
}

// Handles the signals that have arrived. Returns true if one of them asks to end.
bool DtlCapture::take_signals() {
  bool end = false;
  while (const auto signal = signals_.next()) {
    if (signal->number == SIGCHLD) continue;
    end = true;
    if (!signal->of_stop) end_requests_++;
    if (!ended_by_) ended_by_ = signal->number;
    if (workload_) workload_->pass_on(*signal);
  }
  return end;
}

// Like take_signals(), but returns false for a request of htmtrace stop, which never cuts a save
// short.
bool DtlCapture::cut_short() {
  const int before = end_requests_;
  take_signals();
  return end_requests_ != before;
}

// Returns true if a command ends the recording.
bool DtlCapture::obey_commands() {
  if (control_ == nullptr) return false;
  while (const auto command = control_->next()) {
    switch (*command) {
      case ControlChannel::Command::kPing:
      case ControlChannel::Command::kEnable:  // the log is never disabled
        control_->acknowledge();
        break;
      case ControlChannel::Command::kStop:
        control_->acknowledge();
        return true;
      case ControlChannel::Command::kDisable:
      case ControlChannel::Command::kSnapshot:
        control_->refuse("only htmtrace record supports this command");
        break;
    }
  }
  return false;
}

// Runs `work`, which may wait for the reader of standard output. A signal ends this wait.
void DtlCapture::watch_signals_during(const std::function<void()>& work) {
  watch_during(work, [this] {
    if (cut_short()) output_->give_up();
    if (ended_by_) asked_to_end_ = true;
  });
}

}  // namespace htmtrace

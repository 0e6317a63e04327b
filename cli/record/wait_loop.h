// SPDX-License-Identifier: GPL-2.0-or-later
// All waits of a recording: for the begin of a trace, for its end, for its data, and for the end of
// the workload. Signals take effect during each of them, commands only during wait().
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "cli/capture/control_channel.h"
#include "cli/capture/htm_source.h"
#include "cli/capture/workload.h"
#include "cli/record/capture.h"
#include "cli/record/options.h"
#include "cli/signals.h"
#include "output/io/progress.h"

namespace htmtrace {

class WaitLoop {
 public:
  using Clock = std::chrono::steady_clock;
  // The event that ends a wait.
  enum class Ending : uint8_t {
    kTime,
    kSnapshot,
    kEnableCommand,
    kStopCommand,
    kWorkloadEnded,
    kSignal,
    kEventGone
  };
  // Looks at the processes. Returns the time of the next look if the next tick is too late.
  using Look = std::function<std::optional<Clock::time_point>()>;

  // All arguments outlive this object. `control` and `workload` may be null.
  WaitLoop(const RecordOptions& options, const std::vector<HtmSource>& sources, Signals& signals,
           ControlChannel* control, Workload* workload, Progress& progress);

  // Waits until `trace` begins, because the workload must not run earlier. The hypervisor may delay
  // the begin for seconds. Returns false when a signal ended the recording first. Throws Error.
  bool await_begin(Capture& trace);

  // Waits for an event while `trace` runs; null: while no trace runs. Without `until`, no time ends
  // the wait. Calls `look` in each tick. Throws Error.
  Ending wait(Capture* trace, std::optional<Clock::time_point> until, const Look& look);

  // Resumes a trace that a command has paused: a paused event cannot be read. Throws Error.
  void resume() { set_enabled(true); }
  // Drains every target in the background, and prints the progress. The first signal ends the
  // recording, and the next one ends the drain. `last`: the recording ends after this trace.
  void drain(Capture& trace, bool last);

  // Runs `work` in another thread, because it may wait for the reader of a stream. A signal that
  // asks to end calls `give_up`.
  void watch_signals_during(const std::function<void()>& work,
                            const std::function<void()>& give_up);

  // Asks a workload that outlives the recording to end, and kills it after a timeout.
  void end_workload();

  // Handles the signals that have arrived. Returns true if one of them asks to end.
  bool take_signals();
  // Like take_signals(), but returns false for a request of htmtrace stop, which never cuts a save
  // short.
  bool cut_short();
  // The first signal that asked to end.
  const std::optional<int>& ended_by() const { return ended_by_; }

  // Drops a request of SIGUSR2. Returns false if no signal requested a snapshot.
  bool drop_snapshot();
  // Answers an `enable` command after the trace has begun.
  void answer_enable();
  // Answers a `snapshot` command. Call it after the snapshot was saved and the next trace, if any,
  // has begun. The next trace then contains the later actions of the other side.
  void answer_snapshot(bool saved);

 private:
  // The command that htmtrace answers later.
  enum class Unanswered : uint8_t { kNone, kEnable, kSnapshot };

  std::optional<Ending> obey_commands(bool tracing);
  std::optional<Ending> obey(ControlChannel::Command command, bool tracing);
  void set_enabled(bool enabled);
  void note_snapshot_signal();

  const RecordOptions& options_;
  const std::vector<HtmSource>& sources_;
  Signals& signals_;
  ControlChannel* control_;
  Workload* workload_;
  Progress& progress_;

  Unanswered unanswered_ = Unanswered::kNone;
  bool paused_ = false;           // a command has paused the trace
  bool snapshot_wanted_ = false;  // a signal requested a snapshot
  int end_requests_ = 0;          // signals that requested the end, except of htmtrace stop
  std::optional<int> ended_by_;   // the first such signal
};

}  // namespace htmtrace

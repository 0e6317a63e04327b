// SPDX-License-Identifier: GPL-2.0-or-later
// One run of `htmtrace record`: starts and ends each trace, and prints the summary.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/capture/control_channel.h"
#include "cli/capture/htm_source.h"
#include "cli/capture/workload.h"
#include "cli/record/capture.h"
#include "cli/record/parallel_drain.h"
#include "cli/record/recording_sum.h"
#include "cli/record/workload_account.h"
#include "cli/signals.h"
#include "cli/size_limit.h"
#include "core/base/error.h"
#include "output/io/progress.h"
#include "output/recording/stream.h"
#include "output/recording/symbol_files.h"

namespace htmtrace {

// The times of traces. All are optional.
struct Schedule {
  std::optional<std::chrono::nanoseconds> delay;     // workload start to trace start
  bool start_disabled = false;                       // wait for the control channel instead
  std::optional<std::chrono::nanoseconds> duration;  // of a window, or of the recording
  std::optional<uint64_t> windows;                   // number of traces
  std::optional<std::chrono::nanoseconds> every;     // between starts of windows
  std::optional<std::chrono::nanoseconds> rotate;    // length of consecutive traces
  std::optional<uint64_t> keep;                      // number of newest traces to keep

  bool delayed() const { return delay || start_disabled; }
};

struct RecordOptions {
  SourceWish source;
  std::filesystem::path folder = ".";  // "-": a stream on standard output
  Existing existing = Existing::kRefuse;
  std::optional<int> compression;  // level; empty: no compression
  Schedule schedule;
  std::string control;                // source of commands; empty: none
  std::optional<uint64_t> max_bytes;  // limit of the trace in all files together
  bool quiet = false;                 // print only warnings, errors and losses
  Progress::Style progress = Progress::Style::kTerminal;
  bool strict = false;                // a loss is a failure
  bool symbols = false;               // also save kernel symbols and process maps
  bool bind = false;                  // run the workload on the carrier CPUs
  std::vector<std::string> workload;  // empty: no workload

  bool streams() const { return folder == "-"; }
  // Returns true if several traces go to subfolders of `folder`.
  bool numbered() const { return schedule.windows || schedule.rotate || source.wrap; }
};

class Recording {
 public:
  // `sources`, `signals` and `control`, which may be null, outlive this object.
  Recording(const RecordOptions& options, std::vector<HtmSource>& sources, Signals& signals,
            ControlChannel* control);

  // Returns the exit status. Throws Error when the first trace could not be started; then there are
  // no files. If a signal arrives earlier, the recording is empty and states the reason.
  int run();

 private:
  using Clock = std::chrono::steady_clock;
  enum class Ending : uint8_t {
    kTime,
    kSnapshot,
    kToldToBegin,
    kToldToEnd,
    kWorkloadEnded,
    kSignal,
    kEventGone
  };

  // The time until the next check.
  static constexpr std::chrono::milliseconds kTick{1000};
  // Pauses between checks for the begin of a trace grow from the first to the longest. The driver
  // waits for a busy hypervisor for up to 10 s in each operation: DECONFIGURE twice, CONFIGURE and
  // START.
  static constexpr std::chrono::milliseconds kFirstPause{1}, kLongestPause{50};
  static constexpr std::chrono::seconds kBeginLimit{60};
  // When to read the pages of a workload: the first delay, and the longest.
  static constexpr std::chrono::milliseconds kFirstLook{50};
  static constexpr std::chrono::seconds kRarestLook{60};

  bool start();
  int end_unstarted();
  void bind_workload() const;
  bool wait_out_delay();
  void open_trace();
  SessionFiles create_files(const std::filesystem::path& folder);
  void end_stream();
  void save_symbols();
  bool saves_pages() const;
  void begin_looking();
  void look_at_pages();
  void save_first_maps();
  void save_pages();
  bool start_trace();
  bool await_begin();
  void discard();
  bool next_trace();
  bool another() const;
  bool rearm();
  Ending wait(std::optional<Clock::time_point> until);
  bool take_signals();
  void ask_for_snapshot();
  std::optional<Ending> obey_commands();
  std::optional<Ending> obey(ControlChannel::Command command);
  void answer_snapshot();
  void set_enabled(bool enabled);
  void drain();
  void end_workload();
  std::optional<Manifest::Workload> workload_facts() const;
  std::optional<std::vector<Manifest::Workload::CpuTime>> cpus_of_workload() const;
  bool traces_core() const;
  bool report_workload() const;
  void settle();
  void remove_oldest();
  int report();
  void report_sum() const;
  void say(const std::string& text) const;
  void fail(const Error& error);

  RecordOptions options_;
  std::vector<HtmSource>& sources_;
  Signals& signals_;
  ControlChannel* control_;
  Progress progress_;
  std::optional<TraceStream> stream_;  // instead of files
  std::optional<SymbolFiles> symbols_;
  bool maps_wanted_ = false;           // of all processes, after the trace began
  std::optional<ProcessPages> pages_;  // of the workload
  std::optional<Workload> workload_;
  std::optional<WorkloadAccount> account_;  // only if a core is traced
  std::chrono::nanoseconds traced_{0};      // total length of the traces
  std::optional<Capture> capture_;          // the current trace
  bool tracing_ = false;
  bool disabled_ = false;  // paused by a command

  uint64_t number_ = 0;   // number of the trace, from 1
  uint64_t windows_ = 0;  // traces that lasted their full time
  Clock::time_point trace_start_;
  Clock::time_point first_look_;  // next read of the workload's pages
  std::optional<Clock::time_point> next_look_;
  std::optional<Clock::time_point> trace_end_;
  std::optional<Clock::time_point> end_;  // of the whole recording
  SizeLimit limit_;

  Ending ending_ = Ending::kSignal;
  bool snapshot_wanted_ = false;
  bool snapshot_answered_ = true;
  bool begin_acknowledged_ = true;
  int end_requests_ = 0;         // signals that requested the end
  std::optional<int> ended_by_;  // the first such signal
  std::vector<Error> troubles_;  // fatal errors, not yet in a manifest

  RecordingSum sum_;  // of the finished traces
};

}  // namespace htmtrace

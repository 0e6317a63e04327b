// SPDX-License-Identifier: GPL-2.0-or-later
// One run of `htmtrace record`: starts and ends each trace, and prints the summary.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/capture/control_channel.h"
#include "cli/capture/htm_source.h"
#include "cli/capture/ready_notice.h"
#include "cli/capture/workload.h"
#include "cli/record/capture.h"
#include "cli/record/options.h"
#include "cli/record/recording_sum.h"
#include "cli/record/symbol_saver.h"
#include "cli/record/trace_times.h"
#include "cli/record/wait_loop.h"
#include "cli/record/workload_account.h"
#include "cli/signals.h"
#include "cli/size_limit.h"
#include "core/base/error.h"
#include "output/io/progress.h"
#include "output/recording/stream.h"

namespace htmtrace {

class Recording {
 public:
  // All arguments outlive this object. `control` and `workload` may be null.
  Recording(const RecordOptions& options, std::vector<HtmSource>& sources, Signals& signals,
            ReadyNotice& ready, ControlChannel* control, Workload* workload);

  // Returns the exit status. Throws Error and leaves no files if the first trace cannot be started.
  // If a signal arrives earlier, the recording is empty and states the reason.
  int run();

 private:
  using Clock = std::chrono::steady_clock;
  using Ending = WaitLoop::Ending;

  bool start();
  int end_unstarted();
  int end_unreplaced(const std::string& cause);
  bool wait_out_delay();
  void open_trace();
  SessionFiles create_files(const std::filesystem::path& folder);
  bool start_trace();
  void publish();
  Ending wait(Capture* trace, std::optional<Clock::time_point> until);
  std::optional<Clock::time_point> look();
  void drain();
  bool next_trace();
  bool another() const;
  bool rearm();
  void discard();
  void settle();
  void remove_oldest();
  void save_symbols();
  void end_stream();
  void write_out(const std::function<void()>& work);
  bool succeeded() const { return errors_.empty() && sum_.failed() == 0; }
  int report();
  bool report_workload() const;
  void report_sum() const;
  void say(const std::string& text) const;
  void fail(const Error& error);

  const RecordOptions& options_;
  std::vector<HtmSource>& sources_;
  ReadyNotice& ready_;
  Workload* workload_;
  Progress progress_;
  WaitLoop loop_;
  SizeLimit limit_;
  std::optional<TraceStream> stream_;  // instead of files
  std::optional<SymbolSources> symbol_sources_;
  std::optional<SymbolSaver> symbols_;
  std::optional<WorkloadAccount> account_;  // only if a core is traced

  std::optional<Capture> capture_;  // the current trace
  uint64_t number_ = 0;             // its number, from 1
  TraceTimes times_;
  Ending ending_ = Ending::kSignal;  // of the last wait
  std::vector<Error> errors_;        // fatal errors, not yet in a manifest
  RecordingSum sum_;                 // of the finished traces
};

}  // namespace htmtrace

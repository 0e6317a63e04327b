// SPDX-License-Identifier: GPL-2.0-or-later
// One recording from the first file to the last line.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/htm_source.h"
#include "cli/signals.h"
#include "cli/workload.h"
#include "core/error.h"
#include "output/manifest.h"
#include "output/progress.h"
#include "output/session_files.h"
#include "ringbuf/htm_drain.h"

namespace htmtrace {

struct RecordOptions {
  HtmSource::Wish source;
  std::filesystem::path folder = ".";
  Existing existing = Existing::kRefuse;
  std::optional<std::chrono::nanoseconds> duration;
  std::vector<std::string> workload;  // empty: none
};

// Once the trace has started nothing that was captured is given up: whatever goes wrong, the rest
// is drained if that is possible, the files are closed and the manifest says what is missing.
class Recording {
 public:
  // Throws Error; then there are no files of this recording.
  Recording(const RecordOptions& options, HtmSource& source, Signals& signals);

  // Returns the exit status.
  int run();

 private:
  enum class Ending : uint8_t { kWorkloadEnded, kDuration, kSignal, kEventGone };

  void start();
  void check_started();
  Ending wait();
  bool take_signals();
  void drain();
  bool drain_again_allowed(HtmDrain::Step step);
  void end_workload();

  void settle();
  void settle_driver_error();
  void settle_sink(const TraceSink& sink);
  void write_manifest(Manifest::State state);
  int report(Manifest::State state);
  void fail(const Error& error);
  void complain(const Error& error);

  RecordOptions options_;
  HtmSource& source_;
  Signals& signals_;
  SessionFiles files_;
  Manifest manifest_;
  HtmDrain drain_;
  Progress progress_;
  std::optional<Workload> workload_;

  Ending ending_ = Ending::kSignal;
  int ending_signal_ = 0;                // what the workload was told to end with, or got with us
  int end_requests_ = 0;                 // signals that asked to end
  std::chrono::milliseconds waited_{0};  // for a busy driver, since something last came
  std::vector<Error> troubles_;          // to be told at the end
  bool failed_ = false;                  // one of them ends the command with status 1
};

}  // namespace htmtrace

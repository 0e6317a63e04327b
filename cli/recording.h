// SPDX-License-Identifier: GPL-2.0-or-later
// One run of `htmtrace record`: what starts and ends the trace, and the last lines.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/capture.h"
#include "cli/htm_source.h"
#include "cli/parallel_drain.h"
#include "cli/signals.h"
#include "cli/workload.h"
#include "core/error.h"
#include "output/progress.h"

namespace htmtrace {

struct RecordOptions {
  SourceWish source;
  std::filesystem::path folder = ".";
  Existing existing = Existing::kRefuse;
  std::optional<std::chrono::nanoseconds> duration;
  bool strict = false;                // a loss is a failure
  std::vector<std::string> workload;  // empty: none
};

class Recording {
 public:
  // Throws Error; then there are no files of this recording.
  Recording(const RecordOptions& options, const std::vector<HtmSource>& sources, Signals& signals);

  // Returns the exit status.
  int run();

 private:
  enum class Ending : uint8_t { kWorkloadEnded, kDuration, kSignal, kEventGone };

  void start();
  Ending wait();
  bool take_signals();
  void drain();
  void end_workload();
  std::optional<Manifest::Workload> workload_facts() const;
  int report();
  void fail(const Error& error);

  RecordOptions options_;
  const std::vector<HtmSource>& sources_;
  Signals& signals_;
  Capture capture_;
  Progress progress_;
  std::optional<Workload> workload_;

  Ending ending_ = Ending::kSignal;
  int ending_signal_ = 0;        // what the workload was told to end with, or got with us
  int end_requests_ = 0;         // signals that asked to end
  std::vector<Error> troubles_;  // what ends the command with status 1
};

}  // namespace htmtrace

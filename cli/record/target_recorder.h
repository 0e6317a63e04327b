// SPDX-License-Identifier: GPL-2.0-or-later
// One target of a recording: its event, its files, and the losses between them. Shares nothing with
// the other targets, so that each target can have its own drain thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cli/capture/htm_source.h"
#include "cli/size_limit.h"
#include "core/base/error.h"
#include "output/recording/files.h"
#include "output/recording/ledger.h"
#include "output/recording/manifest.h"
#include "ringbuf/htm_drain.h"

namespace htmtrace {

class TargetRecorder {
 public:
  // All arguments outlive this object.
  TargetRecorder(const HtmSource& source, TargetFiles& files, SizeLimit& limit);
  TargetRecorder(const TargetRecorder&) = delete;
  TargetRecorder& operator=(const TargetRecorder&) = delete;

  // Starts the trace. Throws Error if the trace does not run.
  void start();

  // Call it after start(). Returns true when the macro traces, or if the driver does not announce
  // the start. Throws Error when the hypervisor has refused the start meanwhile.
  bool begun();

  // True when the trace has ended by itself: the driver reports an error, or the kernel has
  // disabled the event.
  bool gone();

  // Stops the trace and drains it, until the end or until `give_up` is set.
  void drain(const std::atomic<bool>& give_up) noexcept;

  // The progress of drain(), for any thread.
  struct State {
    uint64_t drained_bytes = 0;
    uint64_t expected_bytes = 0;  // 0: unknown
    uint64_t losses = 0;
  };
  State state() const;

  // Reports that the trace was never started, and why. drain() then has no data to read.
  void cancel(const std::string& cause);

  // Closes the files and computes the totals. Call it once, after drain().
  void settle();

  // Returns true if drain() reached the end of the trace.
  bool drained() const { return drained_; }
  // The value of the last read(2).
  const std::optional<EventValue>& last_value() const { return drain_.last_value(); }

  // The manifest's entry of this target; complete after settle().
  const Manifest::Target& facts() const { return facts_; }
  const Ledger& ledger() const { return ledger_; }
  // The errors to print at the end. failed() returns true if one of them ends the command with
  // status 1.
  const std::vector<Error>& troubles() const { return troubles_; }
  bool failed() const { return failed_; }

 private:
  bool again_allowed(HtmDrain::Step step);
  void drain_to_end(const std::atomic<bool>& give_up);
  void note_triggers();
  std::string never_resumed() const;
  void save(std::span<const std::byte> trace);
  void settle_error();
  void settle_sink(const char* place, const TraceFile& sink);
  void lose(const char* place, const std::string& cause);
  void fail(const Error& error);

  const HtmSource& source_;
  const EventValue baseline_;  // the event's count at the start
  TargetFiles& files_;
  SizeLimit& limit_;
  uint64_t left_out_bytes_ = 0;  // bytes over the limit
  Ledger ledger_;
  HtmDrain drain_;
  Manifest::Target facts_;
  std::vector<Error> troubles_;
  bool gone_ = false;
  bool drained_ = false;
  bool failed_ = false;
  bool cancelled_ = false;
  std::chrono::milliseconds waited_{0};  // time spent waiting for a busy driver since the last data

  std::atomic<uint64_t> drained_bytes_{0};
  std::atomic<uint64_t> expected_bytes_{0};
  std::atomic<uint64_t> losses_{0};
};

}  // namespace htmtrace

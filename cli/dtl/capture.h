// SPDX-License-Identifier: GPL-2.0-or-later
// One recording of `htmtrace dtl`: passes the entries of all CPUs from the rings to a DtlOutput.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "cli/capture/control_channel.h"
#include "cli/capture/identity.h"
#include "cli/capture/ready_notice.h"
#include "cli/capture/script_options.h"
#include "cli/capture/switch_source.h"
#include "cli/capture/workload.h"
#include "cli/dispatches/output.h"
#include "cli/dispatches/report.h"
#include "cli/dtl/guard.h"
#include "cli/dtl/metrics.h"
#include "cli/dtl/rotation.h"
#include "cli/dtl/source.h"
#include "cli/dtl/top.h"
#include "cli/signals.h"
#include "core/dispatch_log/intake.h"
#include "output/io/moment.h"
#include "output/io/progress.h"
#include "output/recording/host_facts.h"
#include "output/recording/ledger.h"
#include "ringbuf/dtl_drain.h"
#include "ringbuf/switch_drain.h"
#include "ringbuf/vpa_counters.h"

namespace htmtrace {

struct DtlOptions {
  std::vector<int> cpus;
  std::string event = "all";
  std::optional<std::chrono::nanoseconds> period;  // empty: measured
  std::optional<std::chrono::nanoseconds> duration;
  // The online CPUs before `cpus` were chosen: the recording ends when they change. Empty: a change
  // does not end the recording.
  std::string end_unless_online;
  std::optional<size_t> aux_bytes;
  unsigned threads = 0;  // 0: depends on the number of CPUs
  std::vector<std::string> workload;
  std::optional<Identity> user;      // becomes this user after the events are open
  std::optional<DtlTopOptions> top;  // instead of entries
  DtlMetricsOptions metrics;
  std::optional<DtlRotationOptions> rotation;  // empty: one file
  ScriptOptions script;
  DtlOutputOptions output;
};

class DtlCapture {
 public:
  // Opens all events, but does not enable them. Needs the privileges that run() gives up. The
  // arguments outlive this object; `control` may be null. Throws Error.
  DtlCapture(const DtlOptions& options, Signals& signals, ReadyNotice& ready,
             ControlChannel* control);

  // Returns the exit status.
  int run();

 private:
  // htmtrace reads a ring when it is half full, or after this time: the driver sends no request for
  // room.
  static constexpr int kLookMilliseconds = 20;

  struct Group;
  // The state of one CPU. After the start, only its thread uses it, or the holder of the thread's
  // lock.
  struct Cpu {
    Cpu(DtlSource opened, DtlCapture& capture);

    DtlSource source;
    DtlDrain drain;
    DtlOutput::Track track;
    std::optional<SwitchSource> switches;
    std::optional<SwitchDrain> switch_drain;
    DtlTask task;  // current at the driver's last read of the log
    std::unique_ptr<DtlTop::Track> top;
    std::unique_ptr<DtlMetricsWriter::Track> metrics;
    Group* group = nullptr;
    Ledger ledger;
    DtlIntake intake;
    VpaArea area;
    std::optional<VpaCounters> at_start, at_end;
    uint64_t announced = 0;  // missing entries that the driver announced before the end
    bool off = false;        // the kernel disabled the event
  };
  struct Group {
    explicit Group(const DtlOutputOptions& options) : sums(options) {}

    std::mutex lock;
    std::vector<Cpu*> cpus;
    std::vector<DtlDrain*> drains;          // of these CPUs
    std::vector<DtlOutput::Track*> tracks;  // of these CPUs
    std::vector<std::byte> room;            // buffer for the bytes of the rings
    std::vector<DtlEntry> entries;          // the entries that take() processes
    DtlOutput::Sums sums;
    std::exception_ptr failure;
    std::optional<std::jthread> thread;  // without it, the main thread drains the rings
  };

  void check_period() const;
  void open_switches(Cpu& cpu);
  void open_output();
  int end_unstarted();
  void start();
  void begin();
  void wait();
  void watch_signals_during(const std::function<void()>& work);
  void end_unread();
  bool cpus_changed();
  bool take_signals();
  bool cut_short();
  bool obey_commands();
  void show_top();
  void choose_first_file();
  void remove_old_files();
  void rotate();
  DtlEnd end_of_part(const std::string& next);
  void open_metrics();
  DtlMetrics collect_metrics(bool running);
  void update_metrics();
  std::optional<Loss> finish_metrics();
  void settle_end();
  void read_counters(bool last);
  void wait_for_rest();
  bool caught_up();
  void stop();
  void end_workload();
  void drain_group(Group& group, const std::stop_token& stop);
  void look(Group& group);
  bool look_without_threads();
  void look_at_switches(Cpu& cpu);
  void take(Cpu& cpu, std::span<const std::byte> entries);
  std::string about() const;
  DtlReport make_report() const;
  int settle(DtlReport report);

  DtlOptions options_;
  Signals& signals_;
  ReadyNotice& ready_;
  ControlChannel* control_;
  Progress progress_;
  DtlDrain::Driver driver_;
  uint64_t period_ns_ = 0;
  Moment created_ = now();
  HostFacts host_;
  std::vector<std::unique_ptr<Cpu>> cpus_;
  std::unique_ptr<DtlGuard> guard_;
  std::optional<Workload> workload_;
  std::unique_ptr<DtlOutput> output_;
  std::optional<DtlTop> top_;
  std::optional<DtlMetricsWriter> metrics_;
  std::optional<DtlRotation> rotation_;
  bool cannot_rotate_ = false;
  uint64_t losses_of_parts_ = 0;  // number of losses of the CPUs until the preceding file ended
  std::atomic<bool> failed_ = false;
  std::atomic<bool> asked_to_end_ = false;  // by a signal
  std::optional<int> ended_by_;             // the first signal that requested the end
  int end_requests_ = 0;                    // such signals, except of htmtrace stop
  std::chrono::steady_clock::time_point started_, ended_;
  std::string seen_online_;         // the online CPUs at the last look
  std::optional<int> quiet_ticks_;  // looks since the online CPUs last changed; empty: no change
  std::chrono::steady_clock::time_point next_hotplug_check_;
  // The last member, because the threads use all other members and must be joined first.
  std::vector<std::unique_ptr<Group>> groups_;
};

}  // namespace htmtrace

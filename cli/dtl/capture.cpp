// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/dtl/capture.h"

#include <fmt/core.h>
#include <poll.h>

#include <algorithm>
#include <ctime>

#include "cli/capture/host.h"
#include "cli/capture/privileges.h"
#include "cli/commands.h"
#include "cli/messages.h"
#include "core/base/start_thread.h"
#include "core/base/timebase.h"
#include "output/io/reader_wait.h"
#include "pmu/dtl_event.h"

namespace htmtrace {
namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

// The number of CPUs that one thread serves.
constexpr size_t kCpusPerThread = 96;

// Estimates the timebase at boot for a driver that does not report it. Like perf's clock,
// CLOCK_MONOTONIC_RAW counts from boot.
uint64_t guess_boot_timebase(uint64_t ticks_per_second) {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  __extension__ typedef unsigned __int128 Wide;
  const Wide ns = static_cast<Wide>(now.tv_sec) * 1'000'000'000U + static_cast<Wide>(now.tv_nsec);
  return timebase_now() - static_cast<uint64_t>(ns * ticks_per_second / 1'000'000'000U);
}

// On a terminal, the progress line would mix with the entries or the screens of top.
Progress::Style style_of(const DtlOptions& options) {
  const Progress::Style style = progress_style(options.script);
  const bool prints = options.output.entries() || options.top;
  return prints && style == Progress::Style::kTerminal ? Progress::Style::kNone : style;
}

}  // namespace

DtlCapture::Cpu::Cpu(DtlSource opened, DtlCapture& capture)
    : source(std::move(opened)),
      drain(source.ring().data(),
            source.ring().has_aux() ? std::optional(source.ring().aux()) : std::nullopt,
            source.ring().sizes().aux_bytes,
            {.entries = [this, &capture](auto entries) { capture.take(*this, entries); },
             .loss =
                 [this](const Loss& loss) {
                   Loss here = loss;
                   here.place = fmt::format("CPU {}, {}", source.cpu(), loss.place);
                   ledger.add(here);
                 },
             .boot_timebase = guess_boot_timebase,
             .task = [this](DtlTask there) { task = there; }},
            capture.driver_),
      track(source.cpu()),
      area(kVpaRoot, source.cpu()) {}

DtlCapture::DtlCapture(const DtlOptions& options, Signals& signals, ReadyNotice& ready,
                       ControlChannel* control)
    : options_(options),
      signals_(signals),
      ready_(ready),
      control_(control),
      progress_(stderr, style_of(options)),
      driver_(dtl_driver()) {
  check_period();
  seen_online_ = options_.end_unless_online;
  period_ns_ = options_.period ? static_cast<uint64_t>(options_.period->count())
                               : choose_dtl_period(options_.cpus, options_.event, signals_);
  const DtlRings rings(options_.aux_bytes, options_.cpus.size());
  for (const int cpu : options_.cpus) {
    cpus_.push_back(
        std::make_unique<Cpu>(DtlSource(cpu, options_.event, period_ns_, rings), *this));
  }
  std::vector<const DtlSource*> guarded;
  for (const auto& cpu : cpus_) guarded.push_back(&cpu->source);
  guard_ = std::make_unique<DtlGuard>(guarded);
  const size_t wanted = options_.threads != 0
                            ? options_.threads
                            : (cpus_.size() + kCpusPerThread - 1) / kCpusPerThread;
  const size_t threads = std::min(wanted, cpus_.size());
  for (size_t i = 0; i < threads; i++) groups_.push_back(std::make_unique<Group>(options_.output));
  for (size_t i = 0; i < cpus_.size(); i++) {
    Group& group = *groups_[i % threads];
    group.cpus.push_back(cpus_[i].get());
    group.drains.push_back(&cpus_[i]->drain);
    group.tracks.push_back(&cpus_[i]->track);
    cpus_[i]->group = &group;
  }
  if (options_.top) {
    options_.output.silent = true;
    for (const auto& cpu : cpus_) cpu->top = std::make_unique<DtlTop::Track>();
  }
  if (!options_.output.tasks) return;
  for (const auto& cpu : cpus_) open_switches(*cpu);
}

// Creates the file with the permissions that the rest of the recording has.
void DtlCapture::open_output() {
  std::optional<InputFile> kallsyms = options_.output.summary ? open_kallsyms() : std::nullopt;
  give_up_privileges(options_.user,
                     {.workload = workload_.has_value(), .other_processes = options_.output.tasks});
  choose_first_file();
  host_ = recorded_host();
  output_ = std::make_unique<DtlOutput>(options_.output, about());
  if (!options_.metrics.file.empty()) open_metrics();
  ready_.prepare();
  output_->allow_to_give_up(kReaderPatience);
  if (kallsyms) output_->set_kallsyms(std::move(*kallsyms));
}

void DtlCapture::open_switches(Cpu& cpu) {
  cpu.switches.emplace(cpu.source.cpu());
  const PerfRing& ring = cpu.switches->ring();
  cpu.switch_drain.emplace(
      ring.data(), ring.sizes().data_bytes, cpu.track.tasks(),
      SwitchDrain::Sinks{
          .named =
              [this](DtlTask task, std::string_view name) {
                output_->with_names([&](DtlTaskNames& names) { names.set(task, name); });
              },
          .forked =
              [this](DtlTask child, DtlTask parent) {
                output_->with_names([&](DtlTaskNames& names) { names.inherit(child, parent); });
              },
          .loss =
              [&cpu](const Loss& loss) {
                Loss here = loss;
                here.place = fmt::format("CPU {}, {}", cpu.source.cpu(), loss.place);
                cpu.ledger.add(here);
              }});
}

int DtlCapture::run() {
  if (!options_.workload.empty()) {
    workload_.emplace(options_.workload, signals_, /*to_stderr=*/false, options_.user);
  }
  open_output();
  if (take_signals()) return end_unstarted();
  start();
  begin();
  wait();
  progress_.clear();
  watch_signals_during([this] {
    settle_end();
    stop();
  });
  end_workload();
  int status = kExitDone;
  watch_signals_during([&] {
    for (const auto& group : groups_) {
      if (group->failure) std::rethrow_exception(group->failure);
    }
    for (const auto& group : groups_) look(*group);
    status = settle(make_report());
  });
  return status;
}

// Publishes the file, and reports to scripts that the recording has begun. If this fails, the
// recording ends, because a script would wait forever for the report.
void DtlCapture::begin() {
  try {
    output_->begin();
    if (rotation_) {
      rotation_->began();
    }
    ready_.announce();
  } catch (const Error&) {
    stop();
    output_->discard();
    end_workload();
    throw;
  }
}

// Leaves an empty recording that states the reason, unless it would replace an earlier one.
int DtlCapture::end_unstarted() {
  if (const DtlOutputOptions& output = options_.output;
      !output.file.empty() && output.existing == Existing::kReplace) {
    output_->discard();
    throw Error("nothing was recorded: " + unstarted_because(*ended_by_))
        .on(fmt::format("file: {} is as it was", output.file.string()));
  }
  output_->give_up();
  int status = kExitDone;
  watch_signals_during([&] {
    DtlReport report = make_report();
    report.unprovable = "nothing was recorded";
    report.add(Loss{"recording", unstarted_because(*ended_by_)});
    status = settle(std::move(report));
  });
  if (workload_) print_note(workload_->command().front() + " was not run");
  return status;
}

// Throws Error for a period that the kernel's own driver would silently raise.
void DtlCapture::check_period() const {
  if (driver_ == DtlDrain::Driver::kOwn || !options_.period ||
      options_.period->count() >= static_cast<int64_t>(kLeastDtlPeriodNs)) {
    return;
  }
  throw Error(
      fmt::format(
          "cannot read the log every {} us: the kernel's own vpa_dtl driver needs at least 1 ms",
          options_.period->count() / 1000))
      .hint("pass --period 1ms, or load htmtrace's driver (htmtrace doctor states how)");
}

// Returns the header text of a file.
std::string DtlCapture::about() const {
  std::string text =
      fmt::format("htmtrace {}\nevent {}\nperiod_ns {}\nkernel {}\nmachine {}\ndriver {}\ncpus",
                  HTMTRACE_VERSION, options_.event, period_ns_, host_.kernel_release, host_.machine,
                  driver_ == DtlDrain::Driver::kOwn ? "htmtrace" : "kernel");
  for (const int cpu : options_.cpus) text += fmt::format(" {}", cpu);
  if (host_.partition_id) text += fmt::format("\npartition {}", *host_.partition_id);
  if (rotation_) {
    text += fmt::format("\nrecording {}\npart {}", created_.realtime_ns, rotation_->files() + 1);
  }
  return text + (options_.output.tasks ? "\ntasks switches\n" : "\n");
}

void DtlCapture::start() {
  // Enable the switches before the first entry.
  for (const auto& cpu : cpus_) {
    if (cpu->switches) cpu->switches->enable();
  }
  started_ = steady_clock::now();
  for (const auto& cpu : cpus_) cpu->source.enable();
  for (const auto& cpu : cpus_) cpu->at_start = cpu->area.read();
  for (const auto& each : groups_) {
    Group& group = *each;
    group.thread = start_thread<std::jthread>(
        [this, &group](const std::stop_token& stop) { drain_group(group, stop); });
  }
  const auto threads =
      std::ranges::count_if(groups_, [](const auto& group) { return group->thread.has_value(); });
  if (static_cast<size_t>(threads) < groups_.size()) {
    warn_of_fewer_threads(fmt::format("draining with {}, and with the main thread", threads));
  }
  if (options_.output.tasks) {
    // Names that the threads have received meanwhile are newer, so set_first() keeps them.
    read_task_names([this](DtlTask task, std::string_view name) {
      output_->with_names([&](DtlTaskNames& names) { names.set_first(task, name); });
    });
  }
  if (workload_) workload_->start();
  if (options_.top) top_.emplace(*options_.top);
}

// ------------------------------------------------------------------------------- the threads

void DtlCapture::drain_group(Group& group, const std::stop_token& stop) {
  std::vector<pollfd> fds;
  for (const Cpu* cpu : group.cpus) {
    fds.push_back({cpu->source.event().get(), POLLIN, 0});
    if (cpu->switches) fds.push_back({cpu->switches->event().get(), POLLIN, 0});
  }
  try {
    while (!stop.stop_requested()) {
      ::poll(fds.data(), fds.size(), kLookMilliseconds);
      look(group);
      for (pollfd& fd : fds) {
        // poll() always returns at once for an event in the error state. The final report mentions
        // it.
        if ((fd.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) fd.fd = -1;
      }
    }
  } catch (...) {
    group.failure = std::current_exception();
    failed_ = true;
  }
}

void DtlCapture::look(Group& group) {
  const std::lock_guard held(group.lock);
  look_at_all(group.drains, group.room);
  for (Cpu* cpu : group.cpus) look_at_switches(*cpu);
  output_->flush(group.tracks);
}

// Drains the groups that have no thread. Returns whether one exists.
bool DtlCapture::look_without_threads() {
  bool any = false;
  for (const auto& group : groups_) {
    if (group->thread) continue;
    any = true;
    try {
      look(*group);
    } catch (...) {
      group->failure = std::current_exception();
      failed_ = true;
    }
  }
  return any;
}

// Drains all switches up to now. If the current task is still unknown, it is the task that was
// current at the driver's last read of the log.
void DtlCapture::look_at_switches(Cpu& cpu) {
  if (!cpu.switch_drain) return;
  cpu.switch_drain->look();
  cpu.track.tasks().observed(cpu.task);
}

void DtlCapture::take(Cpu& cpu, std::span<const std::byte> entries) {
  std::vector<DtlEntry>& ours = cpu.group->entries;
  cpu.intake.take(entries, ours);
  // The ring of switches already holds all switches that precede these entries.
  look_at_switches(cpu);
  if (const DtlClock& clock = cpu.drain.clock(); cpu.switch_drain && !ours.empty()) {
    cpu.track.tasks().cover(clock.nanoseconds(ours.back().timebase).value_or(0));
  }
  if (cpu.metrics) cpu.metrics->add(ours, cpu.drain.clock());
  if (cpu.top) cpu.top->add(ours, cpu.source.cpu(), cpu.drain.clock());
  output_->take(cpu.track, cpu.drain.clock(), ours, cpu.group->sums);
}

// ------------------------------------------------------------------------------- the report

DtlReport DtlCapture::make_report() const {
  DtlReport report;
  report.event = options_.event;
  report.period_ns = period_ns_;
  report.driver = describe_dtl_driver(driver_ == DtlDrain::Driver::kOwn);
  report.duration = std::chrono::duration_cast<nanoseconds>(ended_ - started_);
  report.unprovable = fmt::format("{} cannot be read", kVpaRoot);
  for (const auto& cpu : cpus_) {
    DtlCpuResult result{.cpu = cpu->source.cpu(),
                        .entries = cpu->intake.proof().taken(),
                        .totals = cpu->drain.totals(),
                        .off = cpu->off,
                        .shortfall = cpu->intake.proof().shortfall(),
                        .announced = cpu->announced};
    if (cpu->at_start && cpu->at_end && cpu->at_start->log_index <= cpu->at_end->log_index) {
      result.dispatches =
          dispatches_between(cpu->at_start->dispatch_count, cpu->at_end->dispatch_count);
      result.logged = cpu->at_end->log_index - cpu->at_start->log_index;
    }
    report.add(result, cpu->intake.reasons(), cpu->ledger);
  }
  return report;
}

int DtlCapture::settle(DtlReport report) {
  std::vector<DtlOutput::Track*> tracks;
  DtlOutput::Sums sums(options_.output);
  for (const auto& group : groups_) {
    tracks.insert(tracks.end(), group->tracks.begin(), group->tracks.end());
    sums.add(group->sums);
  }
  // Write the metrics first, because finish() may wait for the reader of standard output.
  const std::optional<Loss> unwritten_metrics = finish_metrics();
  output_->finish(tracks, sums, report.end());
  if (unwritten_metrics) report.add(*unwritten_metrics);
  for (const Loss& loss : output_->losses(tracks)) report.add(loss);
  progress_.ended("entries", report.entries(), 1, report.ledger().empty() ? 0 : 1, 0);
  if (!options_.script.quiet || !report.ledger().empty()) report.print();
  if (rotation_ && !options_.script.quiet) {
    print_text(fmt::format("files: {}, up to {}; removed: {}\n", rotation_->files(),
                           rotation_->current().string(), rotation_->removed()));
  }
  if (!report.ledger().empty()) return kExitIncomplete;
  if (!workload_) return kExitDone;
  if (const auto killed_by = workload_->killed_by(); killed_by && !workload_->ended_as_asked()) {
    return 128 + *killed_by;
  }
  return workload_->exit_status().value_or(kExitDone);
}

}  // namespace htmtrace

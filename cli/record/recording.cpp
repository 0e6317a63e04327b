// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/record/recording.h"

#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <system_error>
#include <utility>

#include "cli/commands.h"
#include "cli/messages.h"

namespace htmtrace {

Recording::Recording(const RecordOptions& options, std::vector<HtmSource>& sources,
                     Signals& signals, ControlChannel* control)
    : options_(options),
      sources_(sources),
      signals_(signals),
      control_(control),
      progress_(stderr, options.progress),
      limit_(options.max_bytes) {}

int Recording::run() {
  if (!start()) return end_unstarted();
  do {
    try {
      ending_ = wait(trace_end_);
      if (ending_ == Ending::kTime) windows_++;
    } catch (const Error& error) {
      fail(error);
    }
    traced_ += Clock::now() - trace_start_;
    if (account_) account_->end();
    drain();
  } while (next_trace());
  save_symbols();  // while a running workload still has its maps
  end_workload();
  settle();
  answer_snapshot();
  end_stream();
  return report();
}

// Returns false when a signal ended the recording first; its files then hold no trace.
bool Recording::start() {
  try {
    if (options_.streams()) stream_.emplace(STDOUT_FILENO);
    if (!options_.workload.empty()) {
      workload_.emplace(options_.workload, signals_, /*to_stderr=*/options_.streams());
    }
    if (workload_ && traces_core()) account_.emplace(workload_->pid());
    if (options_.bind) bind_workload();
    if (options_.numbered() && !stream_ && options_.existing == Existing::kReplace) {
      remove_earlier(options_.folder);
    }
    open_trace();
    if (take_signals()) return false;
    if (options_.symbols) symbols_.emplace(options_.folder, options_.existing, saves_pages());
    if (options_.schedule.delayed() && !wait_out_delay()) return false;
    if (!start_trace()) return false;
    if (workload_ && !options_.schedule.delayed()) workload_->start();
    maps_wanted_ = symbols_.has_value();
    if (symbols_ && saves_pages()) begin_looking();
    return true;
  } catch (...) {
    discard();
    if (symbols_) symbols_->discard();
    end_workload();
    throw;
  }
}

// Waits while the workload runs untraced. Returns false when a signal ended the recording
// meanwhile.
bool Recording::wait_out_delay() {
  if (workload_) workload_->start();
  const auto& delay = options_.schedule.delay;
  ending_ = wait(delay ? std::optional(Clock::now() + *delay) : std::nullopt);
  if (ending_ == Ending::kTime || ending_ == Ending::kToldToBegin) return true;
  if (ending_ == Ending::kSignal) return false;
  throw Error("nothing was traced")
      .on(ending_ == Ending::kWorkloadEnded ? "reason: the workload ended during --delay"
                                            : "reason: the recording was ended during --delay");
}

// Makes the files.
void Recording::open_trace() {
  number_++;
  const bool numbered = options_.numbered() && !options_.streams();
  const auto folder = numbered ? options_.folder / numbered_name(number_) : options_.folder;
  capture_.emplace(sources_, create_files(folder), options_.streams() ? "the stream" : folder,
                   limit_);
}

SessionFiles Recording::create_files(const std::filesystem::path& folder) {
  std::vector<TraceTarget> targets;
  targets.reserve(sources_.size());
  for (const HtmSource& source : sources_) targets.push_back(source.target());
  if (stream_) return create_session_parts(*stream_, static_cast<uint32_t>(number_), targets);
  return create_session_files(folder, targets, options_.existing, options_.compression);
}

// Leaves an empty recording that states the reason.
int Recording::end_unstarted() {
  if (symbols_) symbols_->discard();
  symbols_.reset();
  ending_ = Ending::kSignal;
  const std::string cause = unstarted_because(*ended_by_);
  capture_->cancel(cause);
  end_workload();
  settle();
  end_stream();
  print_note(fmt::format("the recording is empty: {}", cause));
  if (workload_ && !workload_->started()) print_note(workload_->command().front() + " was not run");
  return report();
}

// Tells the reader that the stream ends here.
void Recording::end_stream() {
  if (!stream_) return;
  stream_->put({}, {});
  if (stream_->error() && sum_.failed() == 0) {
    fail(Error("cannot write the stream's end", *stream_->error()));
  }
}

// The second copy has the symbols of code that was loaded during the trace.
void Recording::save_symbols() {
  if (!symbols_) return;
  progress_.clear();
  try {
    symbols_->add_maps("the trace had ended");
    if (pages_) save_pages();
    if (!symbols_->finish()) {
      print_warning(
          "the kernel hides its addresses from this process: kernel code will have no names",
          "run htmtrace record as root, and check kernel.kptr_restrict");
    }
  } catch (const Error& error) {
    fail(error);
  }
}

// Bus addresses, and program addresses in a core trace, get names only from the pages.
bool Recording::saves_pages() const {
  return workload_.has_value();
}

void Recording::begin_looking() {
  pages_.emplace("/proc", workload_->pid(), static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)));
  first_look_ = Clock::now();
  next_look_ = first_look_ + kFirstLook;
}

// A workload that has ended has no pages. htmtrace reads them early, to catch a short workload, and
// then ever more rarely, to spare a long one.
void Recording::look_at_pages() {
  const auto now = Clock::now();
  if (!next_look_ || now < *next_look_) return;
  const auto since = now - first_look_;
  pages_->look(std::chrono::duration_cast<std::chrono::milliseconds>(since));
  next_look_ = now + std::min<Clock::duration>(since, kRarestLook);
}

// Read the workload's memory first: there are many processes, and the workload may end soon.
void Recording::save_first_maps() {
  const bool before_first_look = next_look_ && *next_look_ == first_look_ + kFirstLook;
  if (before_first_look || !std::exchange(maps_wanted_, false)) return;
  try {
    symbols_->add_maps("the trace had begun");
  } catch (const Error& error) {
    fail(error);
  }
}

void Recording::save_pages() {
  next_look_ = first_look_;
  look_at_pages();
  next_look_.reset();
  if (pages_->hidden()) {
    print_warning(
        "cannot read the physical addresses of the workload's memory: the kernel hides them from "
        "this process; program names will not be proven, and bus addresses will have no names",
        "run htmtrace record as root");
  } else if (pages_->processes() == 0) {
    print_warning(
        "cannot read the memory of the workload: it ended too early; program names will not be "
        "proven, and bus addresses will have no names");
  }
  if (pages_->cut()) {
    print_warning(
        "the workload has more memory than htmtrace saves: some of it will have no names");
  }
  symbols_->add_pages(*pages_);
}

// A trace that could not be started leaves no files.
void Recording::discard() {
  if (!capture_) return;
  capture_->discard();
  std::error_code not_empty;
  if (options_.numbered() && !stream_) std::filesystem::remove(capture_->folder(), not_empty);
  capture_.reset();
}

// Waits until the trace runs, because the workload must not run earlier. The hypervisor may delay
// the start for seconds. Returns false when a signal ended the recording first.
bool Recording::await_begin() {
  const auto asked = Clock::now();
  bool told = false;
  pollfd signal{signals_.fd(), POLLIN, 0};
  for (auto pause = kFirstPause; !capture_->begun(); pause = std::min(2 * pause, kLongestPause)) {
    ::poll(&signal, 1, static_cast<int>(pause.count()));
    if (take_signals()) return false;
    const auto waited = Clock::now() - asked;
    if (waited >= kBeginLimit) {
      throw Error("cannot start the trace")
          .on(fmt::format("reason: the driver did not announce the start within {} s",
                          std::chrono::seconds(kBeginLimit).count()))
          .hint("reload the htm driver that belongs to this htmtrace: rmmod htm; modprobe htm");
    }
    if (waited >= kTick && !std::exchange(told, true)) {
      say("waiting for the hypervisor to start the trace");
    }
  }
  return true;
}

// Returns false when a signal ended the recording before the trace ran.
bool Recording::start_trace() {
  capture_->start();
  if (!await_begin()) return false;
  tracing_ = true;
  trace_start_ = Clock::now();
  const Schedule& schedule = options_.schedule;
  // A snapshot or another trace does not delay the end of the recording.
  const bool each = schedule.windows.has_value();
  if (schedule.duration && !each && !end_) end_ = trace_start_ + *schedule.duration;
  if (each) trace_end_ = trace_start_ + *schedule.duration;
  if (schedule.rotate) trace_end_ = trace_start_ + *schedule.rotate;
  if (end_) trace_end_ = std::min(trace_end_.value_or(*end_), *end_);
  if (!std::exchange(begin_acknowledged_, true)) control_->acknowledge();
  return true;
}

// Call it after a trace was drained. Returns true if a new trace has started.
bool Recording::next_trace() {
  if (!another()) return false;
  if (!capture_->drained()) {
    fail(Error("cannot start another trace").on("reason: cannot drain the previous trace"));
    return false;
  }
  if (!rearm()) return false;
  settle();
  try {
    const auto& every = options_.schedule.every;
    if (every && ending_ == Ending::kTime) ending_ = wait(trace_start_ + *every);
    if (ending_ == Ending::kToldToBegin) ending_ = Ending::kTime;
    // The snapshot that was just saved answers this request: nothing was traced since.
    if (std::exchange(snapshot_wanted_, false))
      say("SIGUSR2 while saving: the current snapshot already holds the whole trace");
    if (!another()) return false;
    open_trace();
    if (!start_trace()) {
      discard();
      return false;
    }
    answer_snapshot();
    return true;
  } catch (const Error& error) {
    fail(error);
    discard();
    return false;
  }
}

bool Recording::another() const {
  if (!troubles_.empty() || end_requests_ != 0 || limit_.reached()) return false;
  if (ending_ == Ending::kSnapshot) return true;
  if (ending_ != Ending::kTime) return false;
  if (options_.schedule.rotate) return !end_ || Clock::now() < *end_;
  return windows_ < options_.schedule.windows.value_or(1);
}

bool Recording::rearm() {
  try {
    size_t index = 0;
    for (const TargetRecorder& recorder : capture_->recorders()) {
      sources_[index++].rearm(recorder.last_value());
    }
    return true;
  } catch (const Error& error) {
    fail(error);
    return false;
  }
}

void Recording::bind_workload() const {
  std::vector<int> cpus;
  for (const HtmSource& source : sources_) cpus.push_back(source.carrier_cpu());
  workload_->bind(cpus);
}

// Drains every target in the background, and prints the progress.
void Recording::drain() {
  try {
    if (disabled_) set_enabled(true);  // or it could not be read
  } catch (const Error& error) {
    fail(error);
  }
  tracing_ = false;
  capture_->stopped();
  ParallelDrain drain(capture_->recorders());
  // The first signal ends the recording; the next one ends the saving.
  const int requests_before = end_requests_ + (another() ? 1 : 0);
  std::array<pollfd, 2> waited_for{pollfd{signals_.fd(), POLLIN, 0}, pollfd{drain.fd(), POLLIN, 0}};
  while (!drain.done()) {
    ::poll(waited_for.data(), waited_for.size(), kTick.count());
    take_signals();
    if (end_requests_ > requests_before) drain.give_up();
    const TargetRecorder::State state = capture_->state();
    progress_.draining(state.drained_bytes, state.expected_bytes, state.losses);
  }
}

// Asks a workload that outlives the recording to end, and kills it after a timeout.
void Recording::end_workload() {
  if (!workload_ || !workload_->end(signals_, [this] { return take_signals(); })) return;
  progress_.clear();
  print_note(fmt::format("{} did not end; killed it", workload_->command().front()));
}

std::optional<Manifest::Workload> Recording::workload_facts() const {
  if (!workload_ || !workload_->started()) return std::nullopt;
  return Manifest::Workload{.command = workload_->command(),
                            .pid = workload_->pid(),
                            .exit_status = workload_->exit_status(),
                            .signal = workload_->killed_by(),
                            .cpus = cpus_of_workload()};
}

std::optional<std::vector<Manifest::Workload::CpuTime>> Recording::cpus_of_workload() const {
  if (!account_ || account_->times().empty()) return std::nullopt;
  std::vector<Manifest::Workload::CpuTime> cpus;
  for (const auto& [cpu, ns] : account_->times()) cpus.push_back({cpu, ns});
  return cpus;
}

bool Recording::traces_core() const {
  return std::ranges::any_of(
      sources_, [](const HtmSource& source) { return source.target().type == HtmType::kCore; });
}

// Closes the trace's files, and prints its summary if other traces follow.
void Recording::settle() {
  if (!capture_) return;
  const bool failed = !troubles_.empty();
  capture_->settle(workload_facts(), std::exchange(troubles_, {}), failed);
  sum_.add(*capture_);
  if (account_ && !options_.numbered() && !stream_) {
    account_->measure(capture_->folder(), capture_->manifest());
  }
  progress_.clear();
  for (const Error& error : capture_->troubles()) print_error(error);
  if (options_.numbered()) {
    const bool bad = capture_->manifest().state != Manifest::State::kComplete;
    for (const std::string& line : sum_.last_lines()) bad ? print_note(line) : say(line);
    remove_oldest();
  }
  capture_.reset();
}

// Keeps at most the number of folders of --keep.
void Recording::remove_oldest() {
  const auto keep = options_.schedule.keep;
  if (!keep || number_ <= *keep) return;
  if (remove_recording(options_.folder / numbered_name(number_ - *keep))) return sum_.removed_one();
  print_warning(
      fmt::format("cannot remove {}", (options_.folder / numbered_name(number_ - *keep)).string()));
}

// Errors first, the sum last. Returns the exit status.
int Recording::report() {
  progress_.clear();
  progress_.ended(sum_.bytes(), sum_.traces(), sum_.incomplete(), sum_.failed());
  for (const Error& error : troubles_) print_error(error);
  const bool asked_to_end = ending_ != Ending::kWorkloadEnded;
  const auto killed_by = workload_ ? workload_->killed_by() : std::nullopt;
  const bool died = killed_by && !(asked_to_end && workload_->ended_as_asked());
  if (died) {
    print_error(Error(fmt::format("the workload was killed by signal {} ({})", *killed_by,
                                  ::strsignal(*killed_by)))
                    .on(fmt::format("workload: {}", workload_->command().front()))
                    .hint("the trace up to this time is saved"));
  }
  const bool absent = report_workload();
  report_sum();
  if (sum_.failed() != 0 || !troubles_.empty()) return kExitFailed;
  if (sum_.incomplete() != 0 || absent) return options_.strict ? kExitFailed : kExitIncomplete;
  if (died) return 128 + *killed_by;
  return workload_ ? workload_->exit_status().value_or(kExitDone) : kExitDone;
}

// Returns true when the trace has no instruction of the workload. Several traces and traces in a
// stream are not examined.
bool Recording::report_workload() const {
  if (!account_ || !workload_->started() || options_.numbered() || stream_) return false;
  say(account_->line());
  // If the trace has gaps, the workload may have run in the gaps.
  const bool gapless = sum_.proven() && control_ == nullptr && !options_.schedule.delayed() &&
                       !options_.source.start_paused && !options_.source.resume_on &&
                       !options_.source.pause_on;
  if (!gapless || !account_->is_absent(traced_)) return false;
  print_warning(account_->describe_absence(),
                "trace its core with --core N, or run it on the traced core with taskset");
  return true;
}

void Recording::report_sum() const {
  // htmtrace always prints losses.
  if (options_.quiet && sum_.incomplete() + sum_.failed() == 0) return;
  if (options_.numbered()) return print_note(sum_.line(stream_ ? "the stream" : options_.folder));
  for (const std::string& line : sum_.last_lines()) print_note(line);
}

void Recording::say(const std::string& text) const {
  if (!options_.quiet) print_note(text);
}

void Recording::fail(const Error& error) {
  troubles_.push_back(error);
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/record/recording.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <system_error>
#include <utility>

#include "cli/capture/privileges.h"
#include "cli/commands.h"
#include "cli/messages.h"
#include "cli/record/located_targets.h"
#include "output/recording/earlier.h"
#include "output/recording/file_names.h"

namespace htmtrace {
namespace {

bool traces_core(const std::vector<HtmSource>& sources) {
  return std::ranges::any_of(
      sources, [](const HtmSource& source) { return source.target().type == HtmType::kCore; });
}

std::optional<Manifest::Workload> facts_of(const Workload* workload,
                                           const std::optional<WorkloadAccount>& account) {
  if (workload == nullptr || !workload->started()) return std::nullopt;
  Manifest::Workload facts{.command = workload->command(),
                           .pid = workload->pid(),
                           .exit_status = workload->exit_status(),
                           .signal = workload->killed_by(),
                           .cpus = {}};
  if (!account || account->times().empty()) return facts;
  facts.cpus.emplace();
  for (const auto& [cpu, ns] : account->times()) facts.cpus->push_back({cpu, ns});
  return facts;
}

}  // namespace

Recording::Recording(const RecordOptions& options, std::vector<HtmSource>& sources,
                     Signals& signals, ReadyNotice& ready, ControlChannel* control,
                     Workload* workload)
    : options_(options),
      sources_(sources),
      ready_(ready),
      workload_(workload),
      progress_(stderr, progress_style(options.script)),
      loop_(options, sources, signals, control, workload, progress_),
      limit_(options.max_bytes),
      times_(options.schedule) {}

int Recording::run() {
  if (!start()) return end_unstarted();
  do {
    try {
      ending_ = wait(&*capture_, times_.end());
      if (ending_ == Ending::kTime) times_.note_complete();
    } catch (const Error& error) {
      fail(error);
    }
    times_.note_end(Clock::now());
    if (account_) account_->end();
    drain();
  } while (next_trace());
  save_symbols();  // while a running workload still has its maps
  loop_.end_workload();
  settle();
  loop_.answer_snapshot(succeeded());
  end_stream();
  return report();
}

// Returns false when a signal ended the recording first; its files then hold no trace.
bool Recording::start() {
  try {
    if (options_.streams()) stream_.emplace(STDOUT_FILENO);
    symbol_sources_.emplace(options_.symbols);
    if (workload_ != nullptr && traces_core(sources_)) {
      account_.emplace(workload_->pid(), symbol_sources_->pagemap);
    }
    if (workload_ != nullptr && !options_.program_cpus.empty()) {
      workload_->bind(options_.program_cpus);
    }
    const bool all = options_.symbols == SymbolChoice::kAll;
    give_up_privileges(options_.user, {.workload = workload_ != nullptr,
                                       .other_processes = all,
                                       .frame_numbers = all && workload_ != nullptr});
    open_trace();
    ready_.prepare();  // perhaps in the recording's folder
    if (loop_.take_signals()) return false;
    if (options_.symbols != SymbolChoice::kNone) {
      symbols_.emplace(options_.folder, options_.existing, options_.symbols, *symbol_sources_,
                       workload_ != nullptr ? std::optional(workload_->pid()) : std::nullopt);
    }
    if (options_.schedule.delayed() && !wait_out_delay()) return false;
    if (!start_trace()) return false;
    if (workload_ != nullptr && !options_.schedule.delayed()) workload_->start();
    if (symbols_) symbols_->begin();
    ready_.announce();
    return true;
  } catch (...) {
    discard();
    if (symbols_) symbols_->discard();
    loop_.end_workload();
    throw;
  }
}

// Waits while the workload runs untraced. Returns false when a signal ended the recording.
bool Recording::wait_out_delay() {
  if (workload_ != nullptr) workload_->start();
  const auto& delay = options_.schedule.delay;
  ending_ = wait(nullptr, delay ? std::optional(Clock::now() + *delay) : std::nullopt);
  if (ending_ == Ending::kTime || ending_ == Ending::kEnableCommand) return true;
  if (ending_ == Ending::kSignal) return false;
  throw Error("nothing was traced")
      .on(ending_ == Ending::kWorkloadEnded ? "reason: the workload ended during --delay"
                                            : "reason: the recording was ended during --delay");
}

// Creates the files of the next trace.
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
  SessionFiles files =
      create_session_files(folder, targets, options_.existing, options_.compression);
  if (options_.compression && !std::ranges::all_of(files.targets, [](const TargetFiles& target) {
        return target.trace.compresses_apart();
      })) {
    warn_of_fewer_threads("the threads that drain also compress");
  }
  return files;
}

// Leaves an empty recording that states the reason.
int Recording::end_unstarted() {
  if (symbols_) symbols_->discard();
  ending_ = Ending::kSignal;
  const std::string cause = unstarted_because(*loop_.ended_by());
  if (!stream_ && options_.existing == Existing::kReplace) return end_unreplaced(cause);
  capture_->cancel(cause);
  loop_.end_workload();
  settle();
  end_stream();
  print_note(fmt::format("the recording is empty: {}", cause));
  if (workload_ != nullptr && !workload_->started()) {
    print_note(workload_->command().front() + " was not run");
  }
  return report();
}

// An empty recording does not replace an earlier one.
int Recording::end_unreplaced(const std::string& cause) {
  discard();
  loop_.end_workload();
  throw Error("nothing was recorded: " + cause)
      .on(fmt::format("folder: {} is as it was", options_.folder.string()));
}

// Returns false when a signal ended the recording before the trace ran.
bool Recording::start_trace() {
  write_out([this] { capture_->start(); });
  if (!loop_.await_begin(*capture_)) return false;
  times_.note_begin(Clock::now());
  if (options_.existing == Existing::kRefuse) publish();
  loop_.answer_enable();
  return true;
}

// The files appear, and then those of earlier recordings go.
void Recording::publish() {
  const std::set<std::string> names = capture_->publish();
  if (number_ != 1) return;
  if (!stream_ && options_.existing == Existing::kReplace) {
    remove_earlier(capture_->folder(), names);
    if (options_.numbered()) remove_earlier(options_.folder, {}, number_);
  }
  if (symbols_) symbols_->publish();
}

// `trace` is null while no trace runs.
Recording::Ending Recording::wait(Capture* trace, std::optional<Clock::time_point> until) {
  return loop_.wait(trace, until, [this] { return look(); });
}

// Looks at the processes: their memory maps and CPU times are gone after their end.
std::optional<Recording::Clock::time_point> Recording::look() {
  try {
    if (symbols_) symbols_->look();
  } catch (const Error& error) {
    fail(error);
  }
  if (account_) account_->look();
  return symbols_ ? symbols_->next_look() : std::nullopt;
}

void Recording::drain() {
  try {
    loop_.resume();
  } catch (const Error& error) {
    fail(error);
  }
  capture_->stopped();
  // The bytes arrive now. Removing large files earlier would fill the memory of a traced core with
  // the recorder's own work.
  if (options_.existing == Existing::kReplace) {
    try {
      publish();
    } catch (const Error& error) {
      fail(error);
    }
  }
  loop_.drain(*capture_, /*last=*/!another());
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
    const auto next_begin = times_.next_begin();
    if (next_begin && ending_ == Ending::kTime) ending_ = wait(nullptr, next_begin);
    if (ending_ == Ending::kEnableCommand) ending_ = Ending::kTime;
    // The snapshot that was just saved answers this request: nothing was traced since.
    if (loop_.drop_snapshot()) {
      say("SIGUSR2 while saving: the current snapshot already holds the whole trace");
    }
    if (!another()) return false;
    open_trace();
    if (!start_trace()) {
      discard();
      return false;
    }
    loop_.answer_snapshot(succeeded());
    return true;
  } catch (const Error& error) {
    fail(error);
    discard();
    return false;
  }
}

bool Recording::another() const {
  if (!errors_.empty() || loop_.ended_by() || limit_.reached()) return false;
  if (ending_ == Ending::kSnapshot) return true;
  return ending_ == Ending::kTime && times_.another(Clock::now());
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

// A trace that could not be started leaves no files.
void Recording::discard() {
  if (!capture_) return;
  capture_->discard();
  std::error_code not_empty;
  if (options_.numbered() && !stream_) std::filesystem::remove(capture_->folder(), not_empty);
  capture_.reset();
}

// Closes the trace's files, and prints its summary if other traces follow.
void Recording::settle() {
  if (!capture_) return;
  const bool failed = !errors_.empty();
  const auto workload = facts_of(workload_, account_);
  write_out([&] { capture_->settle(workload, std::exchange(errors_, {}), failed); });
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
  if (remove_recording(options_.folder, number_ - *keep)) return sum_.removed_one();
  print_warning(
      fmt::format("cannot remove {}", (options_.folder / numbered_name(number_ - *keep)).string()));
}

void Recording::save_symbols() {
  if (!symbols_) return;
  progress_.clear();
  if (account_) account_->look_last();
  try {
    symbols_->finish(account_ ? &account_->watch() : nullptr);
  } catch (const Error& error) {
    fail(error);
  }
}

// Runs `work`, which may wait for the reader of a stream. A signal ends this wait.
void Recording::write_out(const std::function<void()>& work) {
  if (!stream_) return work();
  loop_.watch_signals_during(work, [this] { stream_->give_up(); });
}

// Tells the reader that the stream ends here.
void Recording::end_stream() {
  if (!stream_) return;
  write_out([this] { stream_->put({}, {}); });
  if (stream_->error() && sum_.failed() == 0) {
    fail(Error("cannot write the stream's end", *stream_->error()));
  }
}

// Prints the errors first and the sum last. Returns the exit status.
int Recording::report() {
  progress_.clear();
  progress_.ended("bytes", sum_.bytes(), sum_.traces(), sum_.incomplete(), sum_.failed());
  for (const Error& error : errors_) print_error(error);
  const bool asked_to_end = ending_ != Ending::kWorkloadEnded;
  const auto killed_by = workload_ != nullptr ? workload_->killed_by() : std::nullopt;
  const bool died = killed_by && !(asked_to_end && workload_->ended_as_asked());
  if (died) {
    print_error(Error(fmt::format("the workload was killed by signal {} ({})", *killed_by,
                                  ::strsignal(*killed_by)))
                    .on(fmt::format("workload: {}", workload_->command().front()))
                    .hint("the trace up to this time is saved"));
  }
  const bool absent = report_workload();
  const bool moved = warn_of_moves(options_.locations);
  report_sum();
  if (!succeeded()) return kExitFailed;
  if (sum_.incomplete() != 0 || absent || moved)
    return options_.strict ? kExitFailed : kExitIncomplete;
  if (died) return 128 + *killed_by;
  return workload_ != nullptr ? workload_->exit_status().value_or(kExitDone) : kExitDone;
}

// Returns true when the trace has no instruction of the workload. Several traces and traces in a
// stream are not examined.
bool Recording::report_workload() const {
  if (!account_ || !workload_->started() || options_.numbered() || stream_) return false;
  say(account_->line());
  // If the trace has gaps, the workload may have run in the gaps.
  const bool gapless = sum_.proven() && options_.script.control.empty() &&
                       !options_.schedule.delayed() && !options_.source.start_paused &&
                       !options_.source.resume_on && !options_.source.pause_on;
  if (!gapless || !account_->is_absent(times_.traced())) return false;
  print_warning(
      account_->describe_absence(),
      options_.located_cpus
          ? "the CPU may have moved to another core; measure again: htmtrace locate --fresh"
          : "trace its core with --core N, or run it on the traced core with taskset");
  return true;
}

void Recording::report_sum() const {
  // htmtrace always prints losses.
  if (options_.script.quiet && sum_.incomplete() + sum_.failed() == 0) return;
  if (options_.numbered()) return print_note(sum_.line(stream_ ? "the stream" : options_.folder));
  for (const std::string& line : sum_.last_lines()) print_note(line);
}

void Recording::say(const std::string& text) const {
  if (!options_.script.quiet) print_note(text);
}

void Recording::fail(const Error& error) {
  errors_.push_back(error);
}

}  // namespace htmtrace

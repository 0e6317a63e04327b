// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/recording.h"

#include <fmt/core.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <thread>

#include "cli/commands.h"
#include "cli/report.h"
#include "pmu/htm_errors.h"

namespace htmtrace {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

constexpr milliseconds kTick{1000};
constexpr milliseconds kBusyPause{1};
// The hypervisor may ask to come back in 10 s, a few times (H_LONG_BUSY_ORDER_10_SEC).
constexpr milliseconds kBusyLimit{60'000};
// How long a workload that was asked to end may take.
constexpr milliseconds kWorkloadGrace{5'000};

Manifest::Proof to_manifest(HtmDrain::Proof proof) {
  switch (proof) {
    case HtmDrain::Proof::kProven:
      return Manifest::Proof::kProven;
    case HtmDrain::Proof::kNotProvable:
      return Manifest::Proof::kNotProvable;
    case HtmDrain::Proof::kViolated:
      break;
  }
  return Manifest::Proof::kViolated;
}

}  // namespace

Recording::Recording(const RecordOptions& options, HtmSource& source, Signals& signals)
    : options_(options),
      source_(source),
      signals_(signals),
      files_(create_session_files(options.folder, source.target(), options.existing)),
      drain_([this] { return source_.event().read(); }, source.ring().data(), source.ring().aux(),
             {.trace = [this](auto bytes) { files_.trace.append(bytes); },
              .map = [this](auto bytes) { files_.translation.append(bytes); },
              .loss = [this](const Loss& loss) { manifest_.ledger.add(loss); }}),
      progress_(stderr) {
  Manifest::Target target;
  target.target = source.target();
  target.carrier_cpu = source.carrier_cpu();
  target.data_ring_bytes = source.ring().sizes().data_bytes;
  target.aux_ring_bytes = source.ring().sizes().aux_bytes;
  target.trace_file = files_.trace.name();
  target.translation_file = files_.translation.name();
  manifest_.targets.push_back(target);
  manifest_.tool_version = HTMTRACE_VERSION;
  manifest_.host = read_host_facts();
}

int Recording::run() {
  try {
    start();
  } catch (...) {
    files_.discard();
    throw;
  }
  try {
    ending_ = wait();
  } catch (const Error& error) {
    fail(error);
  }
  try {
    drain();
  } catch (const Error& error) {
    fail(error);
  }
  drain_.finish();
  end_workload();
  settle();
  const auto state = failed_                    ? Manifest::State::kFailed
                     : manifest_.ledger.empty() ? Manifest::State::kComplete
                                                : Manifest::State::kIncomplete;
  write_manifest(state);
  return report(state);
}

void Recording::start() {
  if (!options_.workload.empty()) workload_.emplace(options_.workload, signals_);
  write_manifest(Manifest::State::kRecording);
  source_.enable();
  check_started();
  manifest_.started = now();
  if (workload_) workload_->start();
}

// ioctl() does not tell of a refusal by the hypervisor.
void Recording::check_started() {
  const bool alive = source_.alive();
  drain_.look();
  if (const auto& error = drain_.error()) {
    throw explain_refusal(error->operation, error->error_number, error->return_code,
                          source_.target(), source_.carrier_cpu());
  }
  if (!alive) throw explain_silence(source_.target(), source_.carrier_cpu());
}

Recording::Ending Recording::wait() {
  const auto start = steady_clock::now();
  const auto left = [&]() -> std::optional<nanoseconds> {
    if (!options_.duration) return std::nullopt;
    return std::max(nanoseconds(0), *options_.duration - (steady_clock::now() - start));
  };
  while (true) {
    const auto remaining = left();
    if (remaining == nanoseconds(0)) return Ending::kDuration;
    progress_.recording(remaining);
    const nanoseconds pause = std::min<nanoseconds>(remaining.value_or(kTick), kTick);
    timespec wait_for{};
    wait_for.tv_sec = std::chrono::duration_cast<std::chrono::seconds>(pause).count();
    wait_for.tv_nsec = (pause % std::chrono::seconds(1)).count();
    // No events asked for on the perf event: the error state is always told.
    std::array<pollfd, 2> sources{pollfd{signals_.fd(), POLLIN, 0},
                                  pollfd{source_.event().get(), 0, 0}};
    const int ready = ::ppoll(sources.data(), sources.size(), &wait_for, nullptr);
    if (take_signals()) return Ending::kSignal;
    if (workload_ && workload_->ended()) return Ending::kWorkloadEnded;
    if (ready == 0 || sources[1].revents != 0) {
      drain_.look();
      if (drain_.error() || !source_.alive()) return Ending::kEventGone;
    }
  }
}

// True when one of the signals asks to end.
bool Recording::take_signals() {
  bool end = false;
  while (const auto signal = signals_.next()) {
    if (signal->number == SIGCHLD) continue;
    end = true;
    end_requests_++;
    ending_signal_ = signal->number;
    // From the terminal the workload has had it too.
    if (workload_ && !signal->from_terminal) workload_->send(signal->number);
  }
  return end;
}

void Recording::drain() {
  manifest_.stopped = now();
  const int requests_before = end_requests_;
  while (true) {
    const HtmDrain::Step step = drain_.step();
    if (step == HtmDrain::Step::kDone) return;
    progress_.draining(drain_.totals().trace_bytes, drain_.expected_trace_bytes(),
                       manifest_.ledger.summary());
    take_signals();
    if (end_requests_ > requests_before) {
      manifest_.ledger.add({"trace", "saving it was interrupted", LossUnit::kUnknown, 0});
      return;
    }
    if (!drain_again_allowed(step)) return;
  }
}

// Waits a little when the driver asks to be called again. False when it has done so for too long.
bool Recording::drain_again_allowed(HtmDrain::Step step) {
  if (step == HtmDrain::Step::kMore) {
    waited_ = milliseconds(0);
    return true;
  }
  if (waited_ >= kBusyLimit) {
    manifest_.ledger.add({"trace", "the hypervisor stayed busy", LossUnit::kUnknown, 0});
    return false;
  }
  std::this_thread::sleep_for(kBusyPause);
  waited_ += kBusyPause;
  return true;
}

// A workload that outlives the recording is asked to end, and made to when it does not.
void Recording::end_workload() {
  if (!workload_ || workload_->ended()) return;
  if (ending_signal_ == 0) {
    ending_signal_ = SIGTERM;
    workload_->send(SIGTERM);
  }
  const auto give_up = steady_clock::now() + kWorkloadGrace;
  while (!workload_->ended() && steady_clock::now() < give_up) {
    pollfd query{signals_.fd(), POLLIN, 0};
    ::poll(&query, 1, 100);
    if (take_signals()) break;
  }
  if (workload_->ended()) return;
  progress_.clear();
  print_note(fmt::format("{} does not end; killing it", workload_->command().front()));
  ending_signal_ = SIGKILL;
  workload_->send(SIGKILL);
  workload_->wait_end();
}

// Puts everything that is known at the end into the manifest.
void Recording::settle() {
  Manifest::Target& target = manifest_.targets.front();
  const HtmDrain::Totals& totals = drain_.totals();
  files_.trace.finish();
  files_.translation.finish();
  manifest_.ended = now();
  target.trace_bytes = files_.trace.written_bytes();
  target.trace_proof = to_manifest(drain_.trace_proof());
  target.translation_bytes = files_.translation.written_bytes();
  target.translation_blocks = totals.map_blocks;
  target.translation_entries = totals.map_entries;
  target.translation_proof = to_manifest(drain_.map_proof());
  if (const auto& value = drain_.last_value()) {
    target.enabled_ns = value->enabled_ns;
    target.running_ns = value->running_ns;
  }
  settle_driver_error();
  settle_sink(files_.trace);
  settle_sink(files_.translation);
  if (totals.map_blocks == 0 && drain_.map_proof() != HtmDrain::Proof::kProven) {
    manifest_.ledger.add({"memory map", "none came", LossUnit::kUnknown, 0});
  }
  if (workload_) {
    manifest_.workload = {.command = workload_->command(),
                          .pid = workload_->pid(),
                          .exit_status = workload_->exit_status(),
                          .signal = workload_->killed_by()};
  }
}

// What came before a refusal in the middle is a recording, though an incomplete one. Nothing at all
// is a failure.
void Recording::settle_driver_error() {
  const uint64_t bytes = drain_.totals().trace_bytes;
  const auto& error = drain_.error();
  if (!error && bytes != 0 && ending_ != Ending::kEventGone) return;
  Error trouble = error ? explain_refusal(error->operation, error->error_number, error->return_code,
                                          source_.target(), source_.carrier_cpu())
                        : explain_silence(source_.target(), source_.carrier_cpu());
  manifest_.ledger.add({"trace", trouble.what(), LossUnit::kUnknown, 0});
  const Error told = std::move(trouble).on(fmt::format("{} bytes of trace came before", bytes));
  if (bytes == 0)
    fail(told);
  else
    complain(told);
}

void Recording::settle_sink(const TraceSink& sink) {
  if (sink.discarded_bytes() != 0) {
    manifest_.ledger.add({sink.name(), std::strerror(sink.error().value_or(EIO)), LossUnit::kBytes,
                          sink.discarded_bytes()});
  }
  if (!sink.error()) return;
  fail(Error(fmt::format("cannot write {}", sink.path().string()), *sink.error())
           .on(fmt::format("{} bytes are in the file, {} bytes are lost", sink.written_bytes(),
                           sink.discarded_bytes()))
           .hint("what is in the file can be decoded"));
}

void Recording::write_manifest(Manifest::State state) {
  manifest_.state = state;
  manifest_.errors.clear();
  for (const Error& error : troubles_) manifest_.errors.emplace_back(error.what());
  const std::string text = manifest_.to_json();
  files_.manifest.rewrite(std::as_bytes(std::span(text)));
  if (state == Manifest::State::kRecording) return;
  files_.manifest.finish();
  if (!files_.manifest.error()) return;
  fail(Error(fmt::format("cannot write {}", files_.manifest.path().string()),
             *files_.manifest.error()));
}

// Errors first, the sum last. Returns the exit status.
int Recording::report(Manifest::State state) {
  progress_.clear();
  for (const Error& error : troubles_) print_error(error);
  const bool asked_to_end = ending_ != Ending::kWorkloadEnded;
  const auto killed_by = workload_ ? workload_->killed_by() : std::nullopt;
  const bool died = killed_by && !(asked_to_end && *killed_by == ending_signal_);
  if (died) {
    print_error(Error(fmt::format("the workload was killed by signal {} ({})", *killed_by,
                                  ::strsignal(*killed_by)))
                    .on(fmt::format("workload: {}", workload_->command().front()))
                    .hint("the trace up to that moment is saved"));
  }
  const HtmDrain::Totals& totals = drain_.totals();
  print_note(fmt::format("{} bytes of trace, {} records of memory map ({} entries) in {}; {}",
                         files_.trace.written_bytes(), totals.map_blocks, totals.map_entries,
                         options_.folder.string(), manifest_.ledger.summary()));
  if (failed_) return kExitFailed;
  if (state == Manifest::State::kIncomplete) return kExitIncomplete;
  if (died) return 128 + *killed_by;
  return workload_ ? workload_->exit_status().value_or(kExitDone) : kExitDone;
}

void Recording::fail(const Error& error) {
  failed_ = true;
  complain(error);
}

void Recording::complain(const Error& error) {
  troubles_.push_back(error);
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/record/capture.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <utility>

#include "cli/capture/host.h"
#include "core/base/counted.h"

namespace htmtrace {

Capture::Capture(const std::vector<HtmSource>& sources, SessionFiles files,
                 const std::filesystem::path& folder, SizeLimit& limit)
    : folder_(folder), files_(std::move(files)) {
  for (size_t index = 0; index < sources.size(); index++) {
    const TargetRecorder& recorder =
        recorders_.emplace_back(sources[index], files_.targets[index], limit);
    manifest_.targets.push_back(recorder.facts());
  }
  files_.manifest.mark_as_being_written();
  manifest_.tool_version = HTMTRACE_VERSION;
  manifest_.host = recorded_host();
}

void Capture::start() {
  try {
    write_manifest(Manifest::State::kRecording);
    // Without a manifest, nobody could tell later what the recording lacks.
    if (files_.manifest.error()) throw cannot_write(files_.manifest);
    for (TargetRecorder& recorder : recorders_) recorder.start();
  } catch (...) {
    files_.discard();
    throw;
  }
}

bool Capture::begun() {
  try {
    for (TargetRecorder& recorder : recorders_) {
      if (!recorder.begun()) return false;
    }
  } catch (...) {
    files_.discard();
    throw;
  }
  manifest_.started = now();
  return true;
}

std::set<std::string> Capture::publish() {
  files_.begin();
  return files_.names();
}

bool Capture::gone() {
  bool any = false;
  for (TargetRecorder& recorder : recorders_) any |= recorder.gone();
  return any;
}

bool Capture::drained() const {
  return std::ranges::all_of(recorders_, &TargetRecorder::drained);
}

TargetRecorder::State Capture::state() const {
  TargetRecorder::State sum;
  bool all_known = true;
  for (const TargetRecorder& recorder : recorders_) {
    const TargetRecorder::State state = recorder.state();
    sum.drained_bytes += state.drained_bytes;
    sum.expected_bytes += state.expected_bytes;
    sum.losses += state.losses;
    all_known &= state.expected_bytes != 0;
  }
  if (!all_known) sum.expected_bytes = 0;
  return sum;
}

void Capture::cancel(const std::string& cause) {
  for (TargetRecorder& recorder : recorders_) recorder.cancel(cause);
}

void Capture::settle(const std::optional<Manifest::Workload>& workload, std::vector<Error> troubles,
                     bool failed) {
  troubles_ = std::move(troubles);
  manifest_.workload = workload;
  for (size_t index = 0; index < recorders_.size(); index++) {
    TargetRecorder& recorder = recorders_[index];
    recorder.settle();
    manifest_.targets[index] = recorder.facts();
    manifest_.ledger.add_all(files_.targets[index].suffix, recorder.ledger());
    troubles_.insert(troubles_.end(), recorder.troubles().begin(), recorder.troubles().end());
    failed |= recorder.failed();
  }
  manifest_.ended = now();
  write_manifest(failed                     ? Manifest::State::kFailed
                 : manifest_.ledger.empty() ? Manifest::State::kComplete
                                            : Manifest::State::kIncomplete);
}

void Capture::write_manifest(Manifest::State state) {
  manifest_.state = state;
  manifest_.errors.clear();
  for (const Error& error : troubles_) manifest_.errors.emplace_back(error.what());
  const std::string text = manifest_.to_json();
  files_.manifest.rewrite(std::as_bytes(std::span(text)));
  if (state == Manifest::State::kRecording) return;
  files_.manifest.finish();
  if (!files_.manifest.error()) return;
  manifest_.state = Manifest::State::kFailed;
  troubles_.push_back(cannot_write(files_.manifest));
}

bool Capture::proven() const {
  return std::ranges::all_of(manifest_.targets, [](const Manifest::Target& target) {
    return target.trace_proof == Proof::kProven && target.translation_proof == Proof::kProven;
  });
}

// Describes the losses, or the evidence that none occurred.
std::string Capture::verdict() const {
  std::string text = manifest_.ledger.summary();
  if (!manifest_.ledger.empty()) return text;
  text += proven()
              ? ", proven by the driver's count"
              : ", but this cannot be proven: the driver does not report the size of the trace";
  return text;
}

std::vector<std::string> Capture::summary() const {
  std::vector<std::string> lines;
  Manifest::Target sum;
  for (const Manifest::Target& target : manifest_.targets) {
    sum.trace_bytes += target.trace_bytes;
    sum.trace_stored_bytes += target.trace_stored_bytes;
    sum.trace_compressed |= target.trace_compressed;
    sum.translation_blocks += target.translation_blocks;
    sum.translation_entries += target.translation_entries;
    for (const Manifest::Trigger& trigger : target.triggers) {
      lines.push_back(fmt::format("{}: {} {}d it {}", describe(target.target), trigger.event,
                                  trigger.action, counted(trigger.times, "time")));
    }
    if (manifest_.targets.size() == 1) break;
    lines.push_back(fmt::format("{}: {} of trace", describe(target.target),
                                counted(target.trace_bytes, "byte")));
  }
  const std::string compressed =
      sum.trace_compressed ? fmt::format(" compressed to {}", sum.trace_stored_bytes) : "";
  lines.push_back(fmt::format(
      "{} of trace{}, {} of memory map ({}) in {}; {}", counted(sum.trace_bytes, "byte"),
      compressed, counted(sum.translation_blocks, "record"),
      counted(sum.translation_entries, "entry"), folder_.string(), verdict()));
  return lines;
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/record/target_recorder.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <thread>
#include <utility>

#include "core/base/counted.h"
#include "core/core_trace/stamp.h"
#include "pmu/htm_errors.h"

namespace htmtrace {
namespace {

using std::chrono::milliseconds;

// Retries a busy driver after an eighth of the time that it has been busy.
constexpr milliseconds kShortestPause{1}, kLongestPause{200};
constexpr int kPausePart = 8;
// The hypervisor may ask for a retry in 10 s, several times (H_LONG_BUSY_ORDER_10_SEC).
constexpr milliseconds kBusyLimit{60'000};

const char* name(HtmDrain::Driver driver) {
  switch (driver) {
    case HtmDrain::Driver::kUnknown:
      break;
    case HtmDrain::Driver::kOwn:
      return "htmtrace";
    case HtmDrain::Driver::kFirst:
      return "first public";
    case HtmDrain::Driver::kSecond:
      return "second public";
    case HtmDrain::Driver::kThird:
      return "third public";
    case HtmDrain::Driver::kThirdOrLatest:
      return "third or latest public";
    case HtmDrain::Driver::kLatest:
      return "latest public";
  }
  return nullptr;
}

}  // namespace

TargetRecorder::TargetRecorder(const HtmSource& source, TargetFiles& files, SizeLimit& limit)
    : source_(source),
      baseline_(source.baseline()),
      files_(files),
      limit_(limit),
      drain_([this] { return source_.event().read(); }, source.ring().data(), source.ring().aux(),
             {.trace = [this](auto bytes) { save(bytes); },
              .map = [this](auto bytes) { files_.translation.append(bytes); },
              .loss = [this](const Loss& loss) { ledger_.add(loss); }},
             {.awaits_begin = source.announces_begin(),
              .wraps = source.wraps(),
              .lost_records = baseline_.lost_records,
              .reports_full = &reports_full}) {
  facts_.target = source.target();
  facts_.carrier_cpu = source.carrier_cpu();
  facts_.data_ring_bytes = source.ring().sizes().data_bytes;
  facts_.aux_ring_bytes = source.ring().sizes().aux_bytes;
  facts_.wraps = source.wraps();
  facts_.start_paused = source.starts_paused();
  facts_.trace_file = files.trace.name();
  facts_.trace_compressed = files.trace.compressed();
  facts_.translation_file = files.translation.name();
}

// ioctl() does not report a refusal by the hypervisor.
void TargetRecorder::start() {
  source_.enable();
  const bool alive = source_.alive();
  drain_.look();
  if (const auto& error = drain_.error()) {
    throw explain_refusal(error->operation, error->error_number, error->return_code,
                          source_.target(), source_.carrier_cpu());
  }
  if (!alive) throw explain_silence(source_.target(), source_.carrier_cpu());
}

bool TargetRecorder::begun() {
  if (!source_.announces_begin() || drain_.started()) return true;
  drain_.look();
  if (const auto& error = drain_.error()) {
    throw explain_refusal(error->operation, error->error_number, error->return_code,
                          source_.target(), source_.carrier_cpu());
  }
  return drain_.started().has_value();
}

bool TargetRecorder::gone() {
  drain_.look();
  gone_ |= drain_.error() || !source_.alive();
  return gone_;
}

// Read the counts before the first read(2), which ends the trace. Later events paused and resumed
// nothing.
void TargetRecorder::note_triggers() {
  for (auto& [action, event, times] : source_.trigger_counts()) {
    facts_.triggers.push_back({action, std::move(event), times});
  }
}

// Returns the event that should have resumed the trace but did not happen.
std::string TargetRecorder::never_resumed() const {
  for (const Manifest::Trigger& trigger : facts_.triggers) {
    const bool resumes = std::string_view(trigger.action) == "resume";
    if (facts_.start_paused && resumes && trigger.times == 0) return trigger.event;
  }
  return {};
}

// Drops the bytes beyond the limit, but the drain continues: the memory map follows the trace.
void TargetRecorder::save(std::span<const std::byte> trace) {
  const uint64_t fits = limit_.take(trace.size());
  if (fits != 0) files_.trace.append(trace.first(fits));
  left_out_bytes_ += trace.size() - fits;
}

void TargetRecorder::drain(const std::atomic<bool>& give_up) noexcept {
  try {
    note_triggers();
    drain_to_end(give_up);
  } catch (const Error& error) {
    fail(error);
  } catch (const std::bad_alloc&) {
    fail(Error("cannot drain the trace: out of memory"));
  }
  drain_.finish();
}

void TargetRecorder::drain_to_end(const std::atomic<bool>& give_up) {
  while (true) {
    const HtmDrain::Step step = drain_.step();
    drained_bytes_.store(drain_.totals().trace_bytes, std::memory_order_relaxed);
    expected_bytes_.store(drain_.expected_trace_bytes(), std::memory_order_relaxed);
    losses_.store(ledger_.entries().size(), std::memory_order_relaxed);
    drained_ = step == HtmDrain::Step::kDone;
    if (drained_) return;
    if (give_up.load(std::memory_order_relaxed)) {
      lose("trace", "the saving was interrupted");
      return;
    }
    if (!again_allowed(step)) return;
  }
}

// Waits if the driver asks for a retry. Returns false if the driver was busy for too long.
bool TargetRecorder::again_allowed(HtmDrain::Step step) {
  if (step == HtmDrain::Step::kMore) {
    waited_ = milliseconds(0);
    return true;
  }
  if (waited_ >= kBusyLimit) {
    lose("trace", "the hypervisor stayed busy");
    return false;
  }
  const milliseconds pause = std::clamp(waited_ / kPausePart, kShortestPause, kLongestPause);
  std::this_thread::sleep_for(pause);
  waited_ += pause;
  return true;
}

TargetRecorder::State TargetRecorder::state() const {
  return {drained_bytes_.load(std::memory_order_relaxed),
          expected_bytes_.load(std::memory_order_relaxed), losses_.load(std::memory_order_relaxed)};
}

void TargetRecorder::cancel(const std::string& cause) {
  cancelled_ = true;
  lose("trace", cause);
}

void TargetRecorder::settle() {
  const HtmDrain::Totals& totals = drain_.totals();
  files_.trace.finish();
  files_.translation.finish();
  facts_.driver = name(drain_.driver());
  facts_.trace_bytes = files_.trace.written_bytes();
  facts_.trace_stored_bytes = files_.trace.stored_bytes();
  facts_.trace_beginning = files_.trace.beginning();
  facts_.trace_proof = drain_.trace_proof();
  facts_.delivered_bytes = drain_.trace_delivered();
  if (drain_.expected_trace_bytes() != 0) facts_.memory_bytes = drain_.expected_trace_bytes();
  facts_.memory_full = drain_.memory_full();
  facts_.translation_bytes = files_.translation.written_bytes();
  facts_.translation_blocks = totals.map_blocks;
  facts_.translation_entries = totals.map_entries;
  facts_.translation_proof = drain_.map_proof();
  facts_.translation_delivered_bytes = drain_.map_delivered();
  if (const auto& value = drain_.last_value()) {
    facts_.enabled_ns = value->enabled_ns - baseline_.enabled_ns;
    facts_.running_ns = value->running_ns - baseline_.running_ns;
  }
  if (!cancelled_) settle_error();
  if (left_out_bytes_ != 0) {
    ledger_.add({"trace file", "--max-size was reached; the rest of the trace was dropped",
                 LossUnit::kBytes, left_out_bytes_, files_.trace.written_bytes()});
  }
  settle_sink("trace file", files_.trace);
  settle_sink("translation file", files_.translation);
  if (!cancelled_ && totals.map_blocks == 0 && drain_.map_proof() != Proof::kProven) {
    lose("memory map", "none arrived");
  }
}

// Data that arrived before a refusal is an incomplete recording. No data is a failure.
void TargetRecorder::settle_error() {
  const uint64_t bytes = drain_.totals().trace_bytes;
  const auto& error = drain_.error();
  if (!error && !gone_ && bytes != 0) return;
  if (const std::string event = never_resumed(); !error && !gone_ && !event.empty()) {
    return fail(
        Error(fmt::format("nothing was traced: {} did not happen on cpu {}", event,
                          source_.carrier_cpu()))
            .on(fmt::format("target: {}", describe(source_.target())))
            .on("reason: only events on the carrier CPU resume the trace")
            .hint("choose the carrier CPU with --cpu, and run the workload there with --bind"));
  }
  Error trouble = error ? explain_refusal(error->operation, error->error_number, error->return_code,
                                          source_.target(), source_.carrier_cpu())
                        : explain_silence(source_.target(), source_.carrier_cpu());
  lose("trace", trouble.what());
  const Error told = std::move(trouble).on(fmt::format("{} bytes of trace arrived earlier", bytes));
  if (bytes == 0)
    fail(told);
  else
    troubles_.push_back(told);
}

// If no write failed, the disk failed later, and an unknown part of the bytes is on it.
void TargetRecorder::settle_sink(const char* place, const TraceFile& sink) {
  if (!sink.error()) return;
  const uint64_t lost = sink.discarded_bytes();
  ledger_.add({place, sink.cause(), lost != 0 ? LossUnit::kBytes : LossUnit::kUnknown, lost,
               sink.written_bytes()},
              sink.error_moment());
  const std::string written = counted(sink.written_bytes(), "byte");
  if (*sink.error() == ENOENT) return fail(cannot_write(sink).on("written: " + written));
  fail(cannot_write(sink)
           .on(lost != 0 ? fmt::format("the file has {}; lost: {}", written, counted(lost, "byte"))
                         : fmt::format("written: {}; the disk may lack a part", written))
           .hint("htmtrace can decode the data in the file"));
}

void TargetRecorder::lose(const char* place, const std::string& cause) {
  ledger_.add({place, cause, LossUnit::kUnknown, 0, drain_.totals().trace_bytes});
}

void TargetRecorder::fail(const Error& error) {
  failed_ = true;
  troubles_.push_back(error);
}

}  // namespace htmtrace

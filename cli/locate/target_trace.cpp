// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/locate/target_trace.h"

#include <thread>
#include <utility>

#include "core/base/error.h"
#include "pmu/htm_errors.h"

namespace htmtrace {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kReadPause{1};
// The hypervisor may ask for a retry in 10 s (H_LONG_BUSY_ORDER_10_SEC).
constexpr milliseconds kReadLimit{20'000};

}  // namespace

TargetTrace::TargetTrace(HtmSource source, std::span<const Marker> markers)
    : source_(std::move(source)),
      search_(markers),
      decoder_(no_map_, search_),
      drain_([this] { return source_.event().read(); }, source_.ring().data(), source_.ring().aux(),
             {.trace = [this](auto bytes) { decoder_.feed(bytes); },
              .map = [this](auto /*bytes*/) { complete_ = true; },
              // A loss can only hide passes of a marker.
              .loss = [](const Loss& /*loss*/) {}},
             {}) {}

void TargetTrace::throw_refusal() const {
  const auto& error = drain_.error();
  if (!error) return;
  throw explain_refusal(error->operation, error->error_number, error->return_code, target(),
                        source_.carrier_cpu());
}

bool TargetTrace::begun() {
  drain_.look();
  throw_refusal();
  return drain_.started().has_value();
}

bool TargetTrace::read_part() {
  if (complete_) return false;
  const HtmDrain::Step step = drain_.step();
  throw_refusal();
  if (step == HtmDrain::Step::kDone) complete_ = true;
  if (step == HtmDrain::Step::kAgain) {
    if (waited_ >= kReadLimit) throw explain_silence(target(), source_.carrier_cpu());
    std::this_thread::sleep_for(kReadPause);
    waited_ += kReadPause;
  } else {
    waited_ = milliseconds(0);
  }
  return !complete_;
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/dispatch_log/entry.h"

#include <array>

namespace htmtrace {
namespace {

// tools/perf/util/powerpc-vpadtl.c of the kernel prints these names for the codes from 0 on.
constexpr std::array<std::string_view, 11> kDispatchReasons = {"external_interrupt",
                                                               "firmware_internal_event",
                                                               "H_PROD",
                                                               "decrementer_interrupt",
                                                               "system_reset",
                                                               "firmware_internal_event",
                                                               "conferred_cycles",
                                                               "time_slice",
                                                               "virtual_memory_page_fault",
                                                               "expropriated_adjunct",
                                                               "priv_doorbell"};
constexpr std::array<std::string_view, 10> kPreemptReasons = {"unused",
                                                              "firmware_internal_event",
                                                              "H_CEDE",
                                                              "H_CONFER",
                                                              "time_slice",
                                                              "migration_hibernation_page_fault",
                                                              "virtual_memory_page_fault",
                                                              "H_CONFER_ADJUNCT",
                                                              "hcall_adjunct",
                                                              "HDEC_adjunct"};

}  // namespace

std::string_view dispatch_reason_name(uint8_t code) {
  return code < kDispatchReasons.size() ? kDispatchReasons[code] : std::string_view();
}

std::string_view preempt_reason_name(uint8_t code) {
  return code < kPreemptReasons.size() ? kPreemptReasons[code] : std::string_view();
}

std::optional<uint64_t> DtlClock::nanoseconds(uint64_t timebase) const {
  if (ticks_per_second == 0) return std::nullopt;
  if (timebase < boot_timebase) return 0;
  constexpr uint64_t kSecond = 1'000'000'000;
  const uint64_t ticks = timebase - boot_timebase;
  const uint64_t rest = ticks % ticks_per_second;
  if (ticks_per_second <= UINT64_MAX / kSecond) [[likely]] {
    // The same result as below, without a 128-bit division.
    return ticks / ticks_per_second * kSecond + rest * kSecond / ticks_per_second;
  }
  __extension__ typedef unsigned __int128 Wide;
  return static_cast<uint64_t>(Wide{ticks} * kSecond / ticks_per_second);
}

uint64_t DtlClock::timebase_at(uint64_t ns) const {
  __extension__ typedef unsigned __int128 Wide;
  constexpr uint64_t kSecond = 1'000'000'000;
  const Wide ticks = (Wide{ns} * ticks_per_second + kSecond - 1) / kSecond;
  const Wide timebase = ticks + boot_timebase;
  return timebase > UINT64_MAX ? UINT64_MAX : static_cast<uint64_t>(timebase);
}

}  // namespace htmtrace

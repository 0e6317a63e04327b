// SPDX-License-Identifier: GPL-2.0-or-later
#include "pmu/dtl_event.h"

#include <fmt/core.h>

#include <cerrno>
#include <fstream>

#include "pmu/permission.h"

namespace htmtrace {
bool is_own_dtl_driver(const std::filesystem::path& pmu_root) {
  std::string driver;
  std::ifstream(pmu_root / kDtlPmu / "caps" / "driver") >> driver;
  return driver == "htmtrace";
}

const char* describe_dtl_driver(bool own) {
  return own ? "htmtrace's vpa_dtl, which flags each loss"
             : "the kernel's own vpa_dtl, which can lose entries without a flag";
}

EventAttr dtl_event_attr(const PmuDescription& pmu, const std::string& event, uint64_t period_ns) {
  EventAttr attr;
  attr.base().type = pmu.type();
  pmu.store_event(attr, "dtl_" + event);
  attr.base().sample_period = period_ns;
  // The driver that was never merged refuses an event without RAW; mainline's driver accepts RAW,
  // too. The event counts nothing; its times show whether the event still runs. A pinned event
  // stays scheduled when other events use its CPU. This matters because mainline's driver frees its
  // log when the kernel removes the event. A return of the event would then write through a null
  // pointer.
  attr.record_raw_samples();
  return attr;
}

Error missing_dtl_pmu(const std::filesystem::path& pmu_root) {
  return Error("this kernel has no vpa_dtl PMU")
      .on(fmt::format("looked for: {}", (pmu_root / kDtlPmu).string()))
      .hint(
          "it needs Linux 6.18 with CONFIG_HV_PERF_CTRS, or htmtrace's module vpa_dtl "
          "(kmod/README.md), on a PowerVM partition with shared processors");
}

Error explain_dtl_open_failure(int error_number, const std::string& event, int cpu) {
  Error error = Error(fmt::format("cannot open event {}/dtl_{}/", kDtlPmu, event), error_number)
                    .on(fmt::format("cpu: {}", cpu));
  switch (error_number) {
    case EACCES:
    case EPERM:
      return std::move(error).hint(permission_hint());
    case EBUSY:
      return std::move(error)
          .on("reason: another user holds the dispatch trace log")
          .hint(
              "end the other user: perf or htmtrace with vpa_dtl, "
              "/proc/powerpc/vcpudispatch_stats, or /sys/kernel/debug/powerpc/dtl");
    case ENODEV:
      return std::move(error).hint("the CPU is offline: leave it out of --cpu");
    case EMFILE:
      return std::move(error).hint("this process may not open more files: raise ulimit -n");
    default:
      return error;
  }
}

}  // namespace htmtrace

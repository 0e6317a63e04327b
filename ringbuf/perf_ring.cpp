// SPDX-License-Identifier: GPL-2.0-or-later
#include "ringbuf/perf_ring.h"

#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>
#include <utility>

namespace htmtrace {
namespace {

std::string mlock_limits() {
  std::string per_cpu = "?";
  std::ifstream("/proc/sys/kernel/perf_event_mlock_kb") >> per_cpu;
  rlimit limit{};
  ::getrlimit(RLIMIT_MEMLOCK, &limit);
  const std::string own = limit.rlim_cur == RLIM_INFINITY
                              ? std::string("unlimited")
                              : fmt::format("{} KiB", limit.rlim_cur / 1024);
  return fmt::format("kernel.perf_event_mlock_kb is {} (for each CPU), RLIMIT_MEMLOCK is {}",
                     per_cpu, own);
}

}  // namespace

bool MapFailure::less_may_do() const {
  return reason == EPERM || reason == ENOMEM;
}

Error MapFailure::explain() const {
  Error error(fmt::format("cannot map {} KiB of {} ring", size_bytes / 1024, ring), reason);
  if (reason == EPERM) {
    return std::move(error)
        .on(mlock_limits())
        .hint("ask for smaller rings with -m, raise one of the limits, or grant CAP_IPC_LOCK");
  }
  if (reason == ENOMEM) return std::move(error).hint("ask for smaller rings with -m");
  if (reason == EOPNOTSUPP) return std::move(error).hint("this PMU has no AUX area");
  return error;
}

size_t page_size() {
  static const auto size = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

perf_event_mmap_page* PerfRing::page() const {
  // The kernel's structure is at the start of the page-aligned mapping.
  return reinterpret_cast<perf_event_mmap_page*>(control_.memory().data());
}

std::optional<PerfRing> PerfRing::map(const EventFd& event, RingSizes sizes, MapFailure& failure) {
  PerfRing ring;
  ring.control_ = Mapping::map(event.get(), page_size() + sizes.data_bytes, 0);
  if (!ring.control_) {
    failure = {"data", sizes.data_bytes, errno};
    return std::nullopt;
  }
  ring.data_ = ring.control_.memory().subspan(page_size());
  if (sizes.aux_bytes == 0) return ring;

  ring.page()->aux_offset = ring.control_.memory().size();
  ring.page()->aux_size = sizes.aux_bytes;
  ring.aux_ = Mapping::map(event.get(), sizes.aux_bytes, ring.page()->aux_offset);
  if (!ring.aux_) {
    failure = {"AUX", sizes.aux_bytes, errno};
    return std::nullopt;
  }
  return ring;
}

}  // namespace htmtrace

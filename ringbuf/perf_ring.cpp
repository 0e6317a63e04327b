// SPDX-License-Identifier: GPL-2.0-or-later
#include "ringbuf/perf_ring.h"

#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>

#include "core/error.h"

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

Error map_error(const char* ring, size_t size_bytes, int reason) {
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

// EPERM is the memory-lock limit, ENOMEM a machine short of it: less may do.
bool less_may_do(int reason) {
  return reason == EPERM || reason == ENOMEM;
}

// Maps with `attempt(size)`, halving from `wanted` to `least`.
template <typename Attempt>
Mapping map_or_less(const char* ring, size_t wanted, size_t least, Attempt attempt) {
  for (size_t size = wanted;; size /= 2) {
    Mapping mapping = attempt(size);
    if (mapping) return mapping;
    const int reason = errno;
    if (!less_may_do(reason) || size / 2 < least) throw map_error(ring, size, reason);
  }
}

}  // namespace

size_t page_size() {
  static const auto size = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

perf_event_mmap_page* PerfRing::page() const {
  // The kernel's structure at the start of a page-aligned mapping.
  return reinterpret_cast<perf_event_mmap_page*>(control_.memory().data());
}

PerfRing PerfRing::map(const EventFd& event, RingSizes wanted, RingSizes least) {
  PerfRing ring;
  const size_t page_bytes = page_size();
  ring.control_ = map_or_less("data", wanted.data_bytes, least.data_bytes, [&](size_t size) {
    return Mapping::map(event.get(), page_bytes + size, 0);
  });
  ring.data_ = ring.control_.memory().subspan(page_bytes);

  ring.aux_ = map_or_less("AUX", wanted.aux_bytes, least.aux_bytes, [&](size_t size) {
    ring.page()->aux_offset = ring.control_.memory().size();
    ring.page()->aux_size = size;
    return Mapping::map(event.get(), size, ring.page()->aux_offset);
  });
  return ring;
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/record/workload_watch.h"

#include <fmt/core.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "cli/cpu_list.h"
#include "core/base/error.h"
#include "pmu/workload_event.h"
#include "ringbuf/records.h"

namespace htmtrace {
namespace {

// A record of a mapping has about 100 bytes. The start of a program makes a few records.
constexpr size_t kRingBytes = 32 << 10;
// Each watched CPU needs a file descriptor and a ring, and each fork inherits all events.
constexpr size_t kMostWatchedCpus = 512;
constexpr size_t kMostExecutedFiles = 4096;
constexpr size_t kMostParents = 1 << 20;

// The mapping as /proc/PID/maps shows it.
CodeMapping code_of(const MappedFile& mapped) {
  std::string permissions = "---p";
  if ((mapped.protection & PROT_READ) != 0) permissions[0] = 'r';
  if ((mapped.protection & PROT_WRITE) != 0) permissions[1] = 'w';
  if ((mapped.protection & PROT_EXEC) != 0) permissions[2] = 'x';
  if ((mapped.flags & MAP_SHARED) != 0) permissions[3] = 's';
  return {.path = std::string(mapped.name),
          .inode = mapped.inode,
          .address = mapped.address,
          .bytes = mapped.bytes,
          .offset = mapped.offset,
          .device_major = mapped.device_major,
          .device_minor = mapped.device_minor,
          .permissions = std::move(permissions)};
}

}  // namespace

WorkloadWatch::WorkloadWatch(pid_t workload) {
  ::clock_gettime(CLOCK_REALTIME_COARSE, &begun_);
  try {
    const std::vector<int> cpus = online_cpus();
    if (cpus.size() > kMostWatchedCpus) {
      trouble_ = fmt::format("htmtrace watches a workload on at most {} CPUs", kMostWatchedCpus);
      return;
    }
    const EventAttr attr = workload_event_attr();
    for (const int cpu : cpus) {
      EventFd event = EventFd::open_for_task(attr.bytes(), cpu, workload);
      if (!event) {
        trouble_ = fmt::format("cannot open its run-time event: {}", std::strerror(errno));
        all_.clear();
        return;
      }
      MapFailure failure;
      auto ring = PerfRing::map(
          event, {.data_bytes = std::max(kRingBytes, page_size()), .aux_bytes = 0}, failure);
      lost_ |= !ring;
      all_.push_back({cpu, std::move(event), std::move(ring)});
    }
  } catch (const Error& error) {
    trouble_ = error.what();
  }
}

void WorkloadWatch::look() {
  for (OnCpu& one : all_) {
    if (!one.ring) continue;
    DataRing ring = one.ring->data();
    if (ring.drain([this](const Record& record) { take(record); }) != 0) lost_ = true;
  }
}

void WorkloadWatch::take(const Record& record) {
  if (record.type == PERF_RECORD_LOST) lost_ = true;
  if (const auto fork = parse_fork(record); fork && !fork->is_thread()) {
    if (parents_.size() >= kMostParents) {
      lost_ = true;
    } else {
      parents_.insert(static_cast<pid_t>(fork->parent));
    }
  }
  const auto mapped = parse_mapped_file(record);
  if (!mapped) return;
  // kernel/events/core.c, perf_event_mmap_event(): the kernel had no room for the name.
  lost_ |= mapped->name == "//enomem" || mapped->name == "//toolong";
  // The kernel's own mappings, and memory without a file, have other names.
  if (!mapped->name.starts_with('/') || mapped->name.starts_with("//")) return;
  CodeMapping code = code_of(*mapped);
  if (mappings_.size() < kMostCodeMappings) {
    mappings_.insert(std::move(code));
  } else {
    cut_ |= !mappings_.contains(code);
  }
  if (files_.size() >= kMostExecutedFiles) {
    lost_ = true;
    return;
  }
  files_.insert({.path = std::string(mapped->name),
                 .id = {mapped->device_major, mapped->device_minor, mapped->inode},
                 .offset = mapped->offset,
                 .bytes = mapped->bytes});
}

std::vector<WorkloadWatch::CpuTime> WorkloadWatch::times() {
  std::vector<CpuTime> times;
  const bool lost_before = std::exchange(lost_, true);  // stays true after an error
  bool lost_now = false;
  for (const OnCpu& one : all_) {
    const auto value = one.event.read();
    lost_now |= !value;
    if (!value) continue;
    // The kernel writes PERF_RECORD_LOST only before a later record.
    lost_now |= value->lost_records != 0;
    if (value->value != 0) times.push_back({one.cpu, value->value});
  }
  // A CPU that came online later was not watched.
  lost_now |= !all_.empty() && !std::ranges::equal(online_cpus(), all_, {}, {}, &OnCpu::cpu);
  lost_ = lost_before || lost_now;
  return times;
}

}  // namespace htmtrace

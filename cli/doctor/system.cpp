// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/doctor/system.h"

#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <charconv>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>

#include "core/base/error.h"
#include "core/base/processor.h"
#include "core/base/size_text.h"
#include "output/io/machine_file.h"
#include "output/recording/files.h"
#include "output/recording/host_facts.h"
#include "pmu/permission.h"
#include "ringbuf/perf_ring.h"

namespace htmtrace {
namespace {

namespace fs = std::filesystem;
using Verdict = Finding::Verdict;

// include/uapi/linux/capability.h
constexpr unsigned kCapIpcLock = 14;
constexpr unsigned kCapSysAdmin = 21;
constexpr unsigned kCapPerfmon = 38;

constexpr const char* kDecodeHere = "htmtrace decode DIR   (DIR: a recording of a partition)";

bool may(const Privileges& own, unsigned capability) {
  return (own.effective_capabilities >> capability & 1) != 0;
}

// Counts the CPUs of a kernel list such as "0-3,8".
size_t count_cpus(const std::string& list) {
  size_t count = 0;
  std::istringstream ranges(list);
  ranges.exceptions(std::ios::badbit);  // out of memory
  for (std::string range; std::getline(ranges, range, ',');) {
    unsigned low = 0;
    unsigned high = 0;
    const char* end = range.data() + range.size();
    const auto [dash, failure] = std::from_chars(range.data(), end, low);
    if (failure != std::errc()) continue;
    high = low;
    if (dash != end) std::from_chars(dash + 1, end, high);
    count += high - low + 1;
  }
  return count;
}

}  // namespace

Privileges own_privileges(const fs::path& root) {
  Privileges own;
  const std::string mask = value_of(root / "proc/self/status", "CapEff", ':');
  std::from_chars(mask.data(), mask.data() + mask.size(), own.effective_capabilities, 16);
  rlimit limit{};
  ::getrlimit(RLIMIT_MEMLOCK, &limit);
  own.lock_limit_bytes = limit.rlim_cur == RLIM_INFINITY ? ~uint64_t{0} : limit.rlim_cur;
  return own;
}

Finding check_machine(const fs::path& root) {
  const std::string platform = value_of(root / "proc/cpuinfo", "platform", ':');
  const std::string cpu = value_of(root / "proc/cpuinfo", "cpu", ':');
  if (platform != "pSeries") {
    return {Verdict::kBad,
            "machine",
            platform.empty() ? "not a POWER machine" : "the platform is " + platform,
            "hardware tracing requires a logical partition of an IBM POWER machine; this machine "
            "can decode recordings",
            {kDecodeHere}};
  }
  const auto hypervisor = text_of(root / "proc/device-tree/hypervisor/compatible");
  if (hypervisor && hypervisor->find("kvm") != std::string::npos) {
    return {Verdict::kBad,
            "machine",
            "a KVM guest on " + cpu,
            "KVM guests have no hardware tracing; only PowerVM partitions have it",
            {kDecodeHere}};
  }
  return {Verdict::kGood, "machine", "a partition on " + cpu, "", {}};
}

Finding check_formats(const fs::path& root) {
  const auto pvr = read_host_facts(root).pvr;
  if (!pvr) {
    return {
        Verdict::kUnknown, "formats", "the kernel does not state the processor's version", "", {}};
  }
  const Processor* processor = find_processor(*pvr);
  if (processor != nullptr && !processor->assumed) {
    return {Verdict::kGood, "formats", describe_processor(*pvr), "", {}};
  }
  return {Verdict::kNotice,
          "formats",
          describe_processor(*pvr),
          "htmtrace's assumptions about its records can be wrong",
          {}};
}

Finding check_permission(const fs::path& root, const Privileges& own) {
  const auto paranoid = number_in(root / "proc/sys/kernel/perf_event_paranoid");
  const std::string level = paranoid ? fmt::format("{}", *paranoid) : "not known";
  if (!paranoid) {
    return {Verdict::kBad,
            "permission",
            "the kernel has no perf events",
            "htmtrace records through perf events",
            {"use a kernel with CONFIG_PERF_EVENTS"}};
  }
  if (*paranoid >= kAdminParanoidLevel && may(own, kCapPerfmon) && !may(own, kCapSysAdmin)) {
    return {Verdict::kNotice,
            "permission",
            fmt::format("CAP_PERFMON (kernel.perf_event_paranoid is {})", level),
            fmt::format("from level {} on, Debian's kernels require CAP_SYS_ADMIN instead",
                        kAdminParanoidLevel),
            {"run htmtrace as root", "or: sysctl kernel.perf_event_paranoid=2"}};
  }
  if (may(own, kCapPerfmon) || may(own, kCapSysAdmin)) {
    return {Verdict::kGood,
            "permission",
            fmt::format("{} (kernel.perf_event_paranoid is {})",
                        may(own, kCapPerfmon) ? "CAP_PERFMON" : "CAP_SYS_ADMIN", level),
            "",
            {}};
  }
  return {Verdict::kBad,
          "permission",
          fmt::format("CAP_PERFMON is missing (kernel.perf_event_paranoid is {})", level),
          "the htm driver requires CAP_PERFMON at every level",
          {"run htmtrace as root",
           "or, once: setcap cap_perfmon,cap_ipc_lock=ep $(command -v htmtrace)"}};
}

Finding check_memory_lock(const fs::path& root, const Privileges& own, size_t targets,
                          uint64_t bytes_for_each) {
  const int64_t paranoid = number_in(root / "proc/sys/kernel/perf_event_paranoid").value_or(2);
  if (may(own, kCapIpcLock) || paranoid < 0 || own.lock_limit_bytes == ~uint64_t{0}) {
    return {Verdict::kGood, "memory lock", "no limit", "", {}};
  }
  const auto free_kb = static_cast<uint64_t>(
      std::max<int64_t>(0, number_in(root / "proc/sys/kernel/perf_event_mlock_kb").value_or(0)));
  const size_t cpus = count_cpus(text_of(root / "sys/devices/system/cpu/online").value_or("0"));
  const uint64_t allowed = free_kb * 1024 * cpus + own.lock_limit_bytes;
  const uint64_t wanted = bytes_for_each * targets;
  const std::string facts = fmt::format(
      "{} may be locked (kernel.perf_event_mlock_kb {} on {} CPUs, RLIMIT_MEMLOCK {}), {} are "
      "wanted",
      rounded_size(allowed), free_kb, cpus, rounded_size(own.lock_limit_bytes),
      rounded_size(wanted));
  if (wanted <= allowed) return {Verdict::kGood, "memory lock", facts, "", {}};
  return {Verdict::kNotice,
          "memory lock",
          facts,
          "smaller rings make draining the trace slower",
          {fmt::format("sysctl kernel.perf_event_mlock_kb={}", (wanted / cpus / 1024) + 1),
           fmt::format("or: ulimit -l {}", wanted / 1024 + 1), "or grant CAP_IPC_LOCK"}};
}

Finding check_pages() {
  return {Verdict::kGood, "page size", rounded_size(page_size()), "", {}};
}

Finding check_tracefs(const fs::path& root) {
  std::error_code failure;
  for (const char* place : {"sys/kernel/tracing", "sys/kernel/debug/tracing"}) {
    if (fs::exists(root / place / "events", failure)) {
      return {Verdict::kGood, "tracefs", fmt::format("/{}", place), "", {}};
    }
  }
  return {Verdict::kNotice,
          "tracefs",
          "not found, or not readable for this user",
          "only --resume-on and --pause-on with tracepoints need tracefs",
          {"mount -t tracefs tracefs /sys/kernel/tracing"}};
}

Finding check_carriers(size_t targets, size_t usable) {
  const std::string facts = fmt::format("{} may be used, {} needed", usable,
                                        targets == 1 ? "1 is" : fmt::format("{} are", targets));
  if (targets <= usable) return {Verdict::kGood, "carrier CPUs", facts, "", {}};
  return {Verdict::kBad,
          "carrier CPUs",
          facts,
          "each CPU can carry the event of only one target",
          {"trace fewer targets at once", "or allow more CPUs (taskset, SMT, CPU hotplug)"}};
}

Finding check_threads(const fs::path& root, bool core_trace) {
  const auto active = number_in(root / "sys/devices/system/cpu/smt/active");
  if (active != 1)
    return {Verdict::kGood, "SMT", active ? "off" : "not known to this kernel", "", {}};
  if (!core_trace) return {Verdict::kGood, "SMT", "on; this affects only core traces", "", {}};
  return {Verdict::kNotice,
          "SMT",
          "on",
          "the hypervisor traces a core only while it runs one thread",
          {"ppc64_cpu --smt=off", "after the recording: ppc64_cpu --smt=on"}};
}

Finding check_disk(const fs::path& folder, uint64_t bytes) {
  fs::path place = folder.empty() ? "." : folder;
  std::error_code failure;
  while (!fs::exists(place, failure)) {
    if (failure) return {Verdict::kUnknown, "disk", failure.message(), "", {}};
    place = place.has_parent_path() ? place.parent_path() : ".";
  }
  if (::access((place / ".").c_str(), W_OK | X_OK) != 0) {
    return {Verdict::kBad,
            "disk",
            "cannot write to " + place.string(),
            "htmtrace writes the trace to this folder",
            {"choose another folder with -o"}};
  }
  const fs::space_info space = fs::space(place, failure);
  if (failure) return {Verdict::kUnknown, "disk", failure.message(), "", {}};
  const std::string facts =
      fmt::format("{} free in {}", rounded_size(space.available), place.string());
  if (bytes == 0) {
    return {Verdict::kGood, "disk", facts + "; the size of a trace is not known", "", {}};
  }
  const std::string need = fmt::format("{}, traces take up to {}", facts, rounded_size(bytes));
  if (bytes <= space.available) return {Verdict::kGood, "disk", need, "", {}};
  return {Verdict::kNotice,
          "disk",
          need,
          "a trace that fills its memory will not fit",
          {"choose another folder with -o", "or trace a shorter time"}};
}

std::vector<Finding> check_folder(const fs::path& folder, const std::vector<TraceTarget>& targets) {
  try {
    check_session_folder(folder.empty() ? "." : folder, targets, Existing::kRefuse);
  } catch (const Error& error) {
    // check_disk() reports a folder that cannot be written to.
    if (::access((folder / ".").c_str(), W_OK | X_OK) != 0) return {};
    const std::string why = error.subjects().empty() ? "" : error.subjects().front();
    return {{Verdict::kBad, "folder", error.what(), why, error.hints()}};
  }
  return {};
}

}  // namespace htmtrace

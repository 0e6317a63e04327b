// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/doctor/htm.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>

#include "core/base/size_text.h"
#include "pmu/description.h"
#include "pmu/dtl_event.h"
#include "pmu/htm_event.h"
#include "pmu/htm_info.h"

namespace htmtrace {
namespace {

namespace fs = std::filesystem;
using Verdict = Finding::Verdict;

fs::path pmu_folder(const fs::path& root) {
  return root / fs::path(kPmuRoot).relative_path() / kHtmPmu;
}

// The driver's errno of a refusal: kmod/ABI.
Finding refused_status(HtmType type, int reason) {
  Finding finding{Verdict::kBad,
                  fmt::format("{} traces", htm_type_name(type)),
                  fmt::format("the hypervisor does not report it: {}", std::strerror(reason)),
                  "",
                  {}};
  switch (reason) {
    case EACCES:
      finding.verdict = Verdict::kUnknown;
      finding.what = "not readable for this user";
      finding.advice = {"run htmtrace doctor as root"};
      break;
    case EPERM:
      finding.why = "the partition may not trace, or its activation (VET code) is not applied";
      finding.advice = {"apply the activation for hardware tracing"};
      break;
    case ENODEV:
      finding.why = "no such macro found, or no trace memory";
      finding.advice = {"reserve trace memory (managed system), then restart the machine"};
      break;
    case EOPNOTSUPP:
    case ENOSYS:
      finding.why = "the firmware has no such trace";
      break;
    case ETIMEDOUT:
      finding.verdict = Verdict::kUnknown;
      finding.why = "it stayed busy for 10 s";
      finding.advice = {"try again later"};
      break;
    default:
      finding.advice = {"read the kernel log: dmesg | grep htm"};
  }
  return finding;
}

// Returns the reason why files in a folder are unknown, or no error. A missing folder has no files.
template <class Iterator>
std::error_code why_unreadable(const fs::path& folder) {
  std::error_code failure;
  for (Iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure)) {
  }
  return failure == std::errc::no_such_file_or_directory ? std::error_code() : failure;
}

// Returns the step that makes a folder readable.
std::string way_to_read(const fs::path& folder, const std::error_code& reason) {
  const bool forbidden = reason == std::errc::permission_denied && ::geteuid() != 0;
  return fmt::format("{}   (/{} cannot be read: {})",
                     forbidden ? "run htmtrace doctor as root" : "repair /" + folder.string(),
                     folder.string(), reason.message());
}

// Returns the newest version of the driver's source that DKMS can build, or an empty string.
std::string installed_source(const fs::path& root) {
  constexpr std::string_view kSource = "htmtrace-htm-";
  std::string newest;
  std::error_code failure;
  for (fs::directory_iterator entry(root / "usr/src", failure), end; !failure && entry != end;
       entry.increment(failure)) {
    const std::string name = entry->path().filename().string();
    std::error_code ignored;
    if (!name.starts_with(kSource) || !fs::exists(entry->path() / "dkms.conf", ignored)) continue;
    const std::string version = name.substr(kSource.size());
    if (::strverscmp(version.c_str(), newest.c_str()) > 0) newest = version;
  }
  return newest;
}

// Returns the steps that install the driver. `loads_unsigned`: the kernel loads modules without a
// signature.
std::vector<std::string> ways_to_build(const fs::path& root, const std::string& release,
                                       bool loads_unsigned) {
  std::vector<std::string> steps;
  const std::string source = installed_source(root);
  if (source.empty()) {
    steps = {
        "install the package htmtrace-dkms (Debian) or htmtrace-kmod (RPM), which builds the "
        "driver",
        std::string("or, in htmtrace's source: make -C kmod") +
            (loads_unsigned ? " && insmod kmod/htm.ko" : "")};
  } else {
    steps = {"dkms install htmtrace-htm/" + source};
  }
  const fs::path modules = fs::path("lib/modules") / release, sources = "usr/src";
  const auto hidden_modules = why_unreadable<fs::recursive_directory_iterator>(root / modules);
  if (hidden_modules) steps.insert(steps.begin(), way_to_read(modules, hidden_modules));
  const auto hidden_sources = why_unreadable<fs::directory_iterator>(root / sources);
  if (hidden_sources) steps.insert(steps.begin(), way_to_read(sources, hidden_sources));
  std::error_code failure;
  const bool has_headers = fs::exists(root / modules / "build", failure);
  // In an unreadable folder, the headers may be installed.
  if (has_headers || failure) return steps;
  steps.front() = "then: " + steps.front();
  steps.insert(steps.begin(), fmt::format("install the headers of kernel {0}   (linux-headers-{0}, "
                                          "kernel-devel or kernel-default-devel)",
                                          release));
  return steps;
}

}  // namespace

std::optional<fs::path> find_module(const fs::path& root, const std::string& release) {
  constexpr std::array<std::string_view, 4> kModuleNames = {"htm.ko", "htm.ko.gz", "htm.ko.xz",
                                                            "htm.ko.zst"};
  const fs::path modules = root / "lib/modules" / release;
  // depmod.d(5): modules in this folder come first.
  const auto is_update = [&](const fs::path& path) {
    return path.string().starts_with((modules / "updates").string());
  };
  std::optional<fs::path> found;
  std::error_code failure;
  for (fs::recursive_directory_iterator entry(modules, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    const std::string name = entry->path().filename().string();
    if (std::ranges::find(kModuleNames, name) == kModuleNames.end()) continue;
    if (!found || is_update(entry->path())) found = entry->path();
  }
  return found;
}

bool driver_is_loaded(const fs::path& root) {
  std::error_code ignored;
  return fs::exists(pmu_folder(root) / "type", ignored);
}

bool has_own_driver(const fs::path& root) {
  return is_own_driver(pmu_folder(root));
}

Finding check_driver(const fs::path& root, const std::string& release, bool installed,
                     bool loads_unsigned) {
  if (!driver_is_loaded(root)) {
    return {Verdict::kBad, "driver", "this kernel has no htm PMU",
            "mainline kernels have no htm driver; htmtrace includes one",
            installed ? std::vector<std::string>{"modprobe htm"}
                      : ways_to_build(root, release, loads_unsigned)};
  }
  if (has_own_driver(root)) return {Verdict::kGood, "driver", "htmtrace's own", "", {}};
  return {Verdict::kNotice,
          "driver",
          "an htm driver that is not htmtrace's",
          "this driver does not count delivered bytes, so completeness cannot be proven; "
          "htmtrace refuses the first published driver",
          {"use htmtrace's driver: rmmod htm && modprobe htm"}};
}

Finding check_dispatch_log(const fs::path& root) {
  const fs::path pmus = root / fs::path(kPmuRoot).relative_path();
  if (!PmuDescription::exists(pmus, kDtlPmu)) {
    return {Verdict::kNotice,
            "dispatch log",
            "this kernel has no vpa_dtl PMU",
            "htmtrace dtl cannot record; htmtrace record does not need it",
            {"modprobe vpa_dtl   (htmtrace's driver, from the same package as htm)"}};
  }
  if (is_own_dtl_driver(pmus)) return {Verdict::kGood, "dispatch log", "htmtrace's own", "", {}};
  return {Verdict::kNotice,
          "dispatch log",
          "the kernel's own vpa_dtl driver",
          "htmtrace dtl works, but this driver can lose entries without a flag",
          {"boot with the kernel parameter initcall_blacklist=vpa_dtl_init",
           "then: modprobe vpa_dtl   (htmtrace's driver, from the same package as htm)"}};
}

Finding check_htmdump(const fs::path& root) {
  std::error_code ignored;
  if (!fs::exists(root / "sys/module/htmdump", ignored)) {
    return {Verdict::kGood, "htmdump", "not loaded", "", {}};
  }
  return {Verdict::kNotice,
          "htmdump",
          "loaded",
          "writing to /sys/kernel/debug/powerpc/htmdump during a recording disturbs the trace; "
          "reading is harmless",
          {"rmmod htmdump, unless it is in use"}};
}

std::vector<Finding> check_trace_memory(const fs::path& root,
                                        const std::vector<TraceTarget>& targets, uint64_t& bytes) {
  std::vector<Finding> findings;
  for (const HtmType type : {HtmType::kCore, HtmType::kNest, HtmType::kLlat}) {
    const auto count = static_cast<uint64_t>(std::ranges::count(targets, type, &TraceTarget::type));
    if (count == 0 || !is_own_driver(pmu_folder(root))) continue;
    const std::string subject = fmt::format("{} traces", htm_type_name(type));
    const HtmAnswer answer = read_htm_answer(pmu_folder(root) / status_file(type));
    if (!answer.readable()) {
      findings.push_back(refused_status(type, answer.error_number));
      continue;
    }
    const HtmBlocks status = parse_htm_blocks(answer.bytes, status_entry_bytes(type));
    if (!status.memory_bytes) {
      findings.push_back({Verdict::kBad,
                          subject,
                          "the hypervisor reports no trace memory",
                          "a macro writes to memory that is reserved for it",
                          {"reserve trace memory (managed system), then restart the machine"}});
      continue;
    }
    bytes += *status.memory_bytes * count;
    findings.push_back(
        {Verdict::kGood,
         subject,
         fmt::format("{} of trace memory for each target", rounded_size(*status.memory_bytes)),
         "",
         {}});
  }
  return findings;
}

}  // namespace htmtrace

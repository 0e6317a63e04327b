// SPDX-License-Identifier: GPL-2.0-or-later
#include "pmu/htm_errors.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <string_view>

#include "pmu/htm_event.h"
#include "pmu/permission.h"

namespace htmtrace {
namespace {

struct Explanation {
  int error_number;
  const char* reason;
  const char* hint;
};

// The errno of each refusal: kmod/ABI. explain_open_failure() distinguishes EACCES, EBUSY and an
// offline CPU. The public drivers return EIO for H_STATE.
constexpr std::array kExplanations = {
    Explanation{EPERM, "the hypervisor says H_AUTHORITY or H_PRIVILEGE, or the kernel forbids it",
                "apply the partition's activation (VET code) for hardware tracing; the kernel log "
                "names the hypervisor's answer"},
    Explanation{EALREADY,
                "the hypervisor says H_STATE: this trace macro is configured already, by another "
                "partition, by htmdump or by an earlier recording",
                "end the other recording (htmdump: write 0 to htmconfigure), then try again"},
    Explanation{ENXIO, "the hypervisor says H_P2: no such node, chip or core",
                "compare --node, --chip and --core with the machine's own list (console command "
                "htm -info: Node, Nodal Chip, HW Core)"},
    Explanation{EINVAL,
                "the hypervisor says H_PARAMETER, or the driver does not accept these values",
                "the kernel log names the refused argument"},
    Explanation{ENODEV,
                "the hypervisor says H_NOT_AVAILABLE: the target does not exist or has no trace "
                "memory",
                "check the target; trace memory is a setting of the managed system, which takes "
                "effect when the system restarts"},
    Explanation{ENOSPC, "the hypervisor says H_RESOURCE: it has no room for this trace", nullptr},
    Explanation{ENOSYS, "the hypervisor says H_FUNCTION: it has no hardware tracing",
                "hardware tracing requires PowerVM"},
    Explanation{EOPNOTSUPP, "the hypervisor or the driver does not support this kind of trace",
                nullptr},
    Explanation{EIO, "the hypervisor reports a hardware fault (H_HARDWARE), or H_STATE",
                "the kernel log names the hypervisor's answer"},
    Explanation{ETIMEDOUT, "the hypervisor stayed busy (H_BUSY, H_LONG_BUSY)", "try again later"},
    Explanation{ENOENT, "the htm driver was unloaded", "load it: modprobe htm"},
    Explanation{EMFILE, "this process may not open more files", "raise the limit: ulimit -n"},
    Explanation{E2BIG, "the kernel does not support this form of event", "use a newer kernel"},
};

// H_ return codes of PAPR that H_HTM can return.
constexpr std::array kReturnCodes = {
    std::pair{0, "H_SUCCESS"},
    std::pair{1, "H_BUSY"},
    std::pair{3, "H_NOT_AVAILABLE"},
    std::pair{5, "H_PARTIAL"},
    std::pair{9900, "H_LONG_BUSY_ORDER_1_MSEC"},
    std::pair{9901, "H_LONG_BUSY_ORDER_10_MSEC"},
    std::pair{9902, "H_LONG_BUSY_ORDER_100_MSEC"},
    std::pair{9903, "H_LONG_BUSY_ORDER_1_SEC"},
    std::pair{9904, "H_LONG_BUSY_ORDER_10_SEC"},
    std::pair{9905, "H_LONG_BUSY_ORDER_100_SEC"},
    std::pair{-1, "H_HARDWARE"},
    std::pair{-2, "H_FUNCTION"},
    std::pair{-3, "H_PRIVILEGE"},
    std::pair{-4, "H_PARAMETER"},
    std::pair{-10, "H_AUTHORITY"},
    std::pair{-16, "H_RESOURCE"},
    std::pair{-55, "H_P2"},
    std::pair{-56, "H_P3"},
    std::pair{-57, "H_P4"},
    std::pair{-58, "H_P5"},
    std::pair{-59, "H_P6"},
    std::pair{-67, "H_UNSUPPORTED"},
    std::pair{-75, "H_STATE"},
};

// H_HTM operation numbers (PAPR), from 1.
constexpr std::array kOperations = {"CAPABILITIES",
                                    "STATUS",
                                    "SETUP",
                                    "CONFIGURE",
                                    "START",
                                    "STOP",
                                    "DECONFIGURE",
                                    "DUMP_DETAILS",
                                    "DUMP_DATA",
                                    "DUMP_SYSMEM_CONF",
                                    "DUMP_SYSPROC_CONF"};

std::string first_word_of(const std::string& path) {
  std::string word = "unknown";
  std::ifstream(path) >> word;
  return word;
}

std::string subject(const TraceTarget& target, int cpu) {
  return fmt::format("target: {}  carrier cpu: {}", describe(target), cpu);
}

Error with_explanation(Error error, int error_number) {
  const auto* found = std::ranges::find(kExplanations, error_number, &Explanation::error_number);
  if (found == kExplanations.end()) return error;
  Error explained = std::move(error).on(fmt::format("reason: {}", found->reason));
  if (found->hint == nullptr) return explained;
  return std::move(explained).hint(found->hint);
}

}  // namespace

bool cpu_is_online(int cpu) {
  const std::string folder = fmt::format("/sys/devices/system/cpu/cpu{}", cpu);
  if (!std::filesystem::exists(folder)) return false;
  // A CPU that cannot go offline has no such file. If the file is not readable, the CPU may be
  // online.
  return first_word_of(folder + "/online") != "0";
}

Error missing_htm_pmu(const std::filesystem::path& pmu_root) {
  return Error("this kernel has no htm PMU")
      .on(fmt::format("looked for {}", (pmu_root / kHtmPmu).string()))
      .hint("load the driver: modprobe htm (or insmod kmod/htm.ko)")
      .hint("htm requires a logical partition of an IBM POWER machine under PowerVM");
}

Error explain_open_failure(int error_number, const TraceTarget& target, int cpu) {
  Error error = Error(fmt::format("cannot open event {}", describe_event(target)), error_number)
                    .on(subject(target, cpu));
  if (error_number == EACCES) return std::move(error).hint(permission_hint());
  if (error_number == EBUSY) {
    return std::move(error)
        .on("reason: another event traces this target, this CPU carries another htm event, or, "
            "with "
            "a driver that is part of the kernel, htmdump or another partition holds the macro")
        .hint(
            "end the other recording (htmdump: write 0 to htmconfigure), or choose another carrier "
            "CPU: htmtrace record --cpu LIST");
  }
  if ((error_number == ENODEV || error_number == EINVAL) && !cpu_is_online(cpu)) {
    return std::move(error)
        .on(fmt::format("reason: cpu {} is not online", cpu))
        .hint(
            "choose an online carrier CPU: htmtrace record --cpu LIST; it need not belong to the "
            "traced core");
  }
  return with_explanation(std::move(error), error_number);
}

Error explain_refusal(unsigned operation, int error_number, int32_t return_code,
                      const TraceTarget& target, int cpu) {
  if (operation == 0) {
    return Error("cannot read the trace: the partition has moved to another machine")
        .on(subject(target, cpu))
        .on("reason: the trace is in the memory of the machine that made it")
        .hint("run htmtrace record again");
  }
  const bool known = operation >= 1 && operation <= kOperations.size();
  const std::string name =
      known ? std::string(kOperations[operation - 1]) : fmt::format("operation {}", operation);
  Error error = Error(fmt::format("the hypervisor refused {} with {}", name,
                                  describe_return_code(return_code)),
                      error_number)
                    .on(subject(target, cpu));
  return with_explanation(std::move(error), error_number);
}

Error explain_silence(const TraceTarget& target, int cpu) {
  Error error = Error(fmt::format("no trace arrives from {}", describe_event(target)))
                    .on(subject(target, cpu));
  if (!cpu_is_online(cpu)) {
    return std::move(error)
        .on(fmt::format("reason: cpu {} went offline", cpu))
        .hint("choose a carrier CPU that stays online: htmtrace record --cpu LIST");
  }
  return std::move(error)
      .on(fmt::format("reason: the hypervisor refused to configure, start or stop this trace, or "
                      "stayed busy, or cpu {} was offline for a moment",
                      cpu))
      .hint(
          "check that the partition's activation (VET code) is applied, that the target exists "
          "and has trace memory, and that no other user traces the target")
      .hint("the kernel log may name the hypervisor's answer");
}

Error explain_no_pausing(int error_number, const TraceTarget& target, int cpu) {
  return Error(fmt::format("cannot pause and resume {}", describe_event(target)), error_number)
      .on(subject(target, cpu))
      .on("reason: kernels before 6.13 cannot do that, and the public htm drivers cannot either")
      .hint("use the driver of htmtrace (kmod/) on Linux 6.13 or later");
}

Error explain_trigger_failure(int error_number, const std::string& trigger, int cpu) {
  Error error = Error(fmt::format("cannot open event {}", trigger), error_number)
                    .on(fmt::format("carrier cpu: {}", cpu));
  switch (error_number) {
    case EACCES:
    case EPERM:
      return std::move(error).hint(permission_hint());
    case ENOENT:
    case EADDRNOTAVAIL:
      return std::move(error).on(
          "reason: the kernel has no such function, or does not allow probes there");
    case EINVAL:
    case ENOTSUP:
    case EILSEQ:
      return std::move(error).on(
          "reason: the kernel cannot probe this address: it is not an instruction, must not be "
          "probed, or is too long");
    case ENOSPC:
      return std::move(error)
          .on("reason: all of the processor's breakpoint registers are in use")
          .hint("end the debugger that uses them");
    default:
      return error;
  }
}

std::string stated_reasons(const Error& error) {
  constexpr std::string_view kMark = "reason: ";
  std::string text;
  for (std::string_view subject : error.subjects()) {
    if (!subject.starts_with(kMark)) continue;
    subject.remove_prefix(kMark.size());
    text += fmt::format("{}{}", text.empty() ? "" : "; ", subject);
  }
  return text;
}

std::string describe_return_code(int32_t return_code) {
  const auto* found =
      std::ranges::find(kReturnCodes, return_code, [](const auto& code) { return code.first; });
  const char* name = found == kReturnCodes.end() ? "an unknown code" : found->second;
  return fmt::format("{} ({})", name, return_code);
}

}  // namespace htmtrace

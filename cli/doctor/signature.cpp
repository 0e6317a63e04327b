// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/doctor/signature.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "output/io/machine_file.h"

namespace htmtrace {
namespace {

namespace fs = std::filesystem;
using Verdict = Finding::Verdict;

// A signed module ends with this text (Linux: include/linux/module_signature.h).
constexpr std::string_view kSignedEnd = "~Module signature appended~\n";

// The property ibm,secure-boot of a partition's device tree: the kernel enforces signatures if it
// is greater than 1 (Linux: arch/powerpc/kernel/secure_boot.c). 1 only reports them.
constexpr uint32_t kSecureBootReports = 1;

constexpr const char* kSignature = "signature";
constexpr const char* kSecureBoot = "secure boot";
constexpr const char* kLockdown = "kernel lockdown";
constexpr const char* kSigEnforce = "the kernel parameter module.sig_enforce";
constexpr const char* kAsRoot = "run htmtrace doctor as root";
constexpr const char* kMountSecurity =
    "mount -t securityfs securityfs /sys/kernel/security, as root";
constexpr const char* kTurnOff = "turn off the partition's secure boot on the HMC";

// What a file says about the machine.
enum class Fact : uint8_t { kFalse, kTrue, kUnknown };

Fact secure_boot_enforced(const fs::path& root) {
  const fs::path path = root / "proc/device-tree/ibm,secure-boot";
  if (const auto cell = cell_in(path)) {
    return *cell > kSecureBootReports ? Fact::kTrue : Fact::kFalse;
  }
  return read_machine_file(path).reason == ENOENT ? Fact::kFalse : Fact::kUnknown;
}

// Returns whether the kernel is locked down in this mode. Without securityfs, the file is missing
// on any kernel.
Fact locked_down_for(const fs::path& root, std::string_view mode) {
  const MachineFile file = read_machine_file(root / "sys/kernel/security/lockdown");
  if (file.reason != 0) {
    std::error_code failure;
    const bool mounted = fs::exists(root / "sys/kernel/security", failure) &&
                         !fs::is_empty(root / "sys/kernel/security", failure);
    return file.reason == ENOENT && mounted && !failure ? Fact::kFalse : Fact::kUnknown;
  }
  if (file.text.find('[') == std::string::npos) return Fact::kUnknown;
  return file.text.find(fmt::format("[{}]", mode)) != std::string::npos ? Fact::kTrue
                                                                        : Fact::kFalse;
}

// A kernel without module signatures has no such parameter.
Fact signatures_enforced(const fs::path& root) {
  const MachineFile file = read_machine_file(root / "sys/module/module/parameters/sig_enforce");
  if (file.reason == ENOENT) return Fact::kFalse;
  if (file.reason != 0) return Fact::kUnknown;
  return file.text.starts_with('Y') ? Fact::kTrue : Fact::kFalse;
}

struct Demand {
  Fact required = Fact::kFalse;
  std::string by;  // who requires a signature, or whose state cannot be read
};

Demand demand_of(const fs::path& root) {
  const Fact boot = secure_boot_enforced(root);
  if (boot == Fact::kTrue) return {Fact::kTrue, kSecureBoot};
  const Fact integrity = locked_down_for(root, "integrity");
  if (integrity == Fact::kTrue || locked_down_for(root, "confidentiality") == Fact::kTrue) {
    return {Fact::kTrue, kLockdown};
  }
  const Fact parameter = signatures_enforced(root);
  if (parameter == Fact::kTrue) return {Fact::kTrue, kSigEnforce};
  if (boot == Fact::kUnknown) return {Fact::kUnknown, kSecureBoot};
  if (integrity == Fact::kUnknown) return {Fact::kUnknown, kLockdown};
  if (parameter == Fact::kUnknown) return {Fact::kUnknown, kSigEnforce};
  return {};
}

enum class Signature : uint8_t { kNoModule, kUnreadable, kUnsigned, kSigned, kCompressed };

Signature signature_of(const std::optional<fs::path>& module) {
  if (!module) return Signature::kNoModule;
  if (module->extension() != ".ko") return Signature::kCompressed;
  std::error_code failure;
  if (!fs::is_regular_file(*module, failure)) return Signature::kUnreadable;
  std::ifstream file(*module, std::ios::binary);
  if (!file) return Signature::kUnreadable;
  file.seekg(-static_cast<std::streamoff>(kSignedEnd.size()), std::ios::end);
  std::string end(kSignedEnd.size(), '\0');
  file.read(end.data(), static_cast<std::streamsize>(end.size()));
  return file && end == kSignedEnd ? Signature::kSigned : Signature::kUnsigned;
}

// The keys that the owner of the partition can add. Linux 6.17 and later read moduledb in both
// modes of key management. Earlier kernels read it only in the dynamic mode, and show no moduledb
// in the static mode (Linux: Documentation/ABI/testing/sysfs-secvar).
enum class Keys : uint8_t {
  kNoStore,  // no keystore, or a kernel that does not know it
  kStatic,   // only the keys that firmware and kernel were built with
  kNone,     // moduledb is empty
  kSome,     // moduledb has keys
  kUnknown,  // moduledb cannot be read
};

// The kernel shows a moduledb that was never written as a file that cannot be read (ENOENT).
Keys keys_of(const fs::path& root) {
  const fs::path store = root / "sys/firmware/secvar";
  if (read_machine_file(store / "format").reason == ENOENT) return Keys::kNoStore;
  std::error_code failure;
  if (!fs::exists(store / "vars/moduledb", failure)) {
    return failure ? Keys::kUnknown : Keys::kStatic;
  }
  const fs::path size = store / "vars/moduledb/size";
  if (read_machine_file(size).reason == ENOENT) return Keys::kNone;
  const auto bytes = number_in(size);
  if (!bytes || *bytes < 0) return Keys::kUnknown;
  return *bytes > 0 ? Keys::kSome : Keys::kNone;
}

const char* describe(Keys keys) {
  switch (keys) {
    case Keys::kNoStore:
      return "the partition has no keystore";
    case Keys::kStatic:
      return "the partition has static keys";
    case Keys::kNone:
      return "moduledb is empty";
    case Keys::kSome:
      return "moduledb has keys";
    case Keys::kUnknown:
      break;
  }
  return "moduledb cannot be read";
}

// Returns true for kernels that read moduledb also with static keys.
bool reads_moduledb(const std::string& release) {
  unsigned major = 0, minor = 0;
  return std::sscanf(release.c_str(), "%u.%u", &major, &minor) == 2 &&
         (major > 6 || (major == 6 && minor >= 17));
}

// Returns a step that makes the kernel trust a key of the partition's owner, and its alternatives.
std::vector<std::string> trust_steps(Keys keys, const std::string& release) {
  const std::string or_turn_off = std::string("or ") + kTurnOff;
  switch (keys) {
    case Keys::kNoStore:
      return {"give the partition a keystore on the HMC", or_turn_off};
    case Keys::kStatic:
      if (reads_moduledb(release)) return {kTurnOff};
      return {"boot Linux 6.17 or later, which also reads moduledb", or_turn_off};
    case Keys::kNone:
    case Keys::kSome:
      return {
          "secvarctl -m guest write moduledb KEY.auth   (how to make KEY.auth: \"Secure boot\" in "
          "the drivers' README.md), then reboot"};
    case Keys::kUnknown:
      break;
  }
  return {kAsRoot};
}

std::string sign_command(const std::string& release, const std::string& file) {
  return fmt::format("/lib/modules/{}/build/scripts/sign-file sha256 KEY.priv KEY.der {}", release,
                     file);
}

// The signature can be made, and its key can be enrolled.
Finding unsigned_driver(const fs::path& root, const std::string& release,
                        const std::optional<fs::path>& module, const std::string& stated,
                        const std::string& trust) {
  constexpr const char* kWhy =
      "the kernel loads only modules that are signed by a key that it trusts";
  const std::string then_trust = "then: " + trust;
  if (!module) {
    return {Verdict::kNotice,
            kSignature,
            stated + "; no htm.ko is installed",
            kWhy,
            {"after the build, unless DKMS has signed the driver: " +
                 sign_command(release, "kmod/htm.ko"),
             then_trust}};
  }
  return {Verdict::kBad,
          kSignature,
          stated + "; htm.ko has no signature",
          kWhy,
          {sign_command(release, "/" + fs::relative(*module, root).string()), then_trust}};
}

// `module` must have a signature by a key that the kernel trusts.
Finding judge_module(const fs::path& root, const std::string& release,
                     const std::optional<fs::path>& module, const std::string& required_by) {
  const std::string stated = "required by " + required_by;
  const Keys keys = keys_of(root);
  const bool owner_has_keys = keys == Keys::kNone || keys == Keys::kSome || keys == Keys::kUnknown;
  const std::vector<std::string> trust =
      required_by == kSecureBoot || owner_has_keys
          ? trust_steps(keys, release)
          : std::vector<std::string>{
                "boot without the kernel parameters module.sig_enforce and lockdown"};
  switch (const Signature signature = signature_of(module)) {
    case Signature::kSigned:
    case Signature::kCompressed: {
      std::vector<std::string> advice = {"modprobe htm",
                                         "if the kernel refuses the driver: " + trust.front()};
      advice.insert(advice.end(), trust.begin() + 1, trust.end());
      return {
          Verdict::kNotice, kSignature,
          fmt::format("{}; htm.ko is {}, and {}", stated,
                      signature == Signature::kSigned ? "signed" : "compressed", describe(keys)),
          "doctor cannot see whether htm.ko is signed by a key that the kernel trusts: a key in "
          "moduledb, or one that the kernel was built with",
          std::move(advice)};
    }
    case Signature::kUnreadable:
      return {Verdict::kUnknown, kSignature, stated + "; htm.ko cannot be read", "", {kAsRoot}};
    case Signature::kUnsigned:
    case Signature::kNoModule:
      break;
  }
  if (!owner_has_keys) {
    return {
        Verdict::kBad, kSignature, fmt::format("{}, and {}", stated, describe(keys)),
        "this kernel trusts only the keys that firmware and kernel were built with, so it loads "
        "no driver that you build",
        trust};
  }
  return unsigned_driver(root, release, module, stated, trust.front());
}

}  // namespace

Finding check_lockdown(const fs::path& root) {
  if (locked_down_for(root, "confidentiality") == Fact::kTrue) {
    return {Verdict::kNotice,
            "lockdown",
            "confidentiality; perf is allowed",
            "the kernel refuses tracefs and kprobes: --resume-on and --pause-on cannot use "
            "tracepoints or functions of the kernel",
            {}};
  }
  switch (locked_down_for(root, "integrity")) {
    case Fact::kTrue:
      return {Verdict::kGood, "lockdown", "integrity; perf is allowed", "", {}};
    case Fact::kFalse:
      return {Verdict::kGood, "lockdown", "none", "", {}};
    case Fact::kUnknown:
      break;
  }
  return {Verdict::kUnknown,
          "lockdown",
          "/sys/kernel/security/lockdown cannot be read",
          "",
          {kMountSecurity}};
}

Finding check_signature(const fs::path& root, const std::string& release,
                        const std::optional<fs::path>& module, bool driver_loaded) {
  const Demand demand = demand_of(root);
  if (demand.required == Fact::kFalse) return {Verdict::kGood, kSignature, "not required", "", {}};
  if (driver_loaded) {
    return {Verdict::kGood, kSignature, "the kernel has accepted the driver", "", {}};
  }
  if (demand.required == Fact::kUnknown) {
    return {Verdict::kUnknown,
            kSignature,
            fmt::format("the state of {} cannot be read", demand.by),
            "",
            {demand.by == kLockdown ? kMountSecurity : kAsRoot}};
  }
  return judge_module(root, release, module, demand.by);
}

}  // namespace htmtrace

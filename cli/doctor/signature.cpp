// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/doctor/signature.h"

#include <fmt/core.h>

#include <fstream>
#include <string_view>

#include "cli/doctor/machine_files.h"

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

bool locked_down_for(const fs::path& root, std::string_view mode) {
  const std::string modes = text_of(root / "sys/kernel/security/lockdown").value_or("");
  return modes.find(fmt::format("[{}]", mode)) != std::string::npos;
}

bool secure_boot_enforced(const fs::path& root) {
  return cell_in(root / "proc/device-tree/ibm,secure-boot").value_or(0) > kSecureBootReports;
}

// Returns who requires a signature of each module, or an empty string.
std::string signature_required_by(const fs::path& root) {
  if (secure_boot_enforced(root)) return "secure boot";
  if (locked_down_for(root, "integrity") || locked_down_for(root, "confidentiality")) {
    return "kernel lockdown";
  }
  if (text_of(root / "sys/module/module/parameters/sig_enforce") == "Y") {
    return "the kernel parameter module.sig_enforce";
  }
  return {};
}

enum class Signature { kNoModule, kUnsigned, kSigned, kCompressed };

Signature signature_of(const std::optional<fs::path>& module) {
  if (!module) return Signature::kNoModule;
  if (module->extension() != ".ko") return Signature::kCompressed;
  std::ifstream file(*module, std::ios::binary);
  file.seekg(-static_cast<std::streamoff>(kSignedEnd.size()), std::ios::end);
  std::string end(kSignedEnd.size(), '\0');
  file.read(end.data(), static_cast<std::streamsize>(end.size()));
  return file && end == kSignedEnd ? Signature::kSigned : Signature::kUnsigned;
}

// The keys that the owner of the partition can add. Linux 6.17 and later read moduledb in both
// modes of key management. Earlier kernels read it only in the dynamic mode, and show no moduledb
// in the static mode (Linux: Documentation/ABI/testing/sysfs-secvar).
enum class Keys {
  kNoStore,  // no keystore, or a kernel that does not know it
  kStatic,   // only the keys that firmware and kernel were built with
  kNone,     // moduledb is empty
  kSome,     // moduledb has keys
};

Keys keys_of(const fs::path& root) {
  const fs::path store = root / "sys/firmware/secvar";
  const auto format = text_of(store / "format");
  if (!format) return Keys::kNoStore;
  const auto bytes = number_in(store / "vars/moduledb/size");
  if (!bytes) return Keys::kStatic;
  return *bytes > 0 ? Keys::kSome : Keys::kNone;
}

std::string sign_command(const std::string& release, const std::optional<fs::path>& module) {
  return fmt::format("/lib/modules/{}/build/scripts/sign-file sha256 KEY.priv KEY.der {}", release,
                     module ? module->filename().string() : "kmod/htm.ko");
}

Finding finding_for_moduledb(const std::string& release, const std::optional<fs::path>& module,
                             const std::string& required_by, bool has_keys) {
  const Signature signature = signature_of(module);
  if (signature == Signature::kNoModule || signature == Signature::kUnsigned) {
    return {Verdict::kBad,
            kSignature,
            fmt::format("{}, and {}", required_by,
                        module ? "htm.ko has no signature" : "no htm.ko is installed"),
            "the kernel loads only modules that are signed by a key in moduledb",
            {sign_command(release, module),
             "then the key into moduledb: see \"Secure boot\" in kmod/README.md"}};
  }
  const std::string state =
      signature == Signature::kSigned ? "htm.ko is signed" : "htm.ko is compressed";
  if (!has_keys) {
    return {
        Verdict::kBad,
        kSignature,
        fmt::format("{}, {}, and moduledb is empty", required_by, state),
        "the kernel loads only modules that are signed by a key in moduledb",
        {"secvarctl -m guest write moduledb KEY.auth   (how to make KEY.auth: \"Secure boot\" in "
         "kmod/README.md), then reboot"}};
  }
  return {Verdict::kNotice,
          kSignature,
          fmt::format("{}, {}, and moduledb has keys", required_by, state),
          "doctor cannot see whether one of these keys made the signature; the kernel decides when "
          "it loads the driver",
          {"modprobe htm"}};
}

}  // namespace

Finding check_lockdown(const fs::path& root) {
  if (locked_down_for(root, "confidentiality")) {
    return {Verdict::kBad,
            "lockdown",
            "the kernel is locked down for confidentiality",
            "a kernel locked down for confidentiality refuses perf events of the kernel",
            {"boot without lockdown=confidentiality (integrity is enough for secure boot)"}};
  }
  const bool integrity = locked_down_for(root, "integrity");
  return {Verdict::kGood, "lockdown", integrity ? "integrity; perf is allowed" : "none", "", {}};
}

Finding check_signature(const fs::path& root, const std::string& release,
                        const std::optional<fs::path>& module, bool driver_loaded) {
  const std::string required_by = signature_required_by(root);
  if (required_by.empty()) return {Verdict::kGood, kSignature, "not required", "", {}};
  if (driver_loaded) {
    return {
        Verdict::kGood, kSignature, required_by + "; the kernel has accepted the driver", "", {}};
  }
  const std::string stated = "required by " + required_by;
  const Keys keys = keys_of(root);
  if (keys == Keys::kNone || keys == Keys::kSome) {
    return finding_for_moduledb(release, module, stated, keys == Keys::kSome);
  }
  if (!secure_boot_enforced(root)) {
    return {Verdict::kBad,
            kSignature,
            stated + ", and this partition has no keys of its own",
            "the kernel loads only modules that are signed by a key that it was built with",
            {"boot without module.sig_enforce=1 and lockdown=…"}};
  }
  return {
      Verdict::kBad,
      kSignature,
      stated + ", with static keys",
      "this kernel trusts only the keys that firmware and kernel were built with, so it cannot "
      "load htmtrace's driver",
      {"boot Linux 6.17 or later, which also reads moduledb; or turn off the partition's secure "
       "boot on the HMC"}};
}

}  // namespace htmtrace

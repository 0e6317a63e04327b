// SPDX-License-Identifier: GPL-2.0-or-later
// The doctor's checks on machines that are modeled by files.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "cli/doctor/htm.h"
#include "cli/doctor/signature.h"
#include "cli/doctor/system.h"
#include "core/base/processor.h"
#include "core/memory_map/blocks.h"
#include "pmu/htm_info.h"
#include "pmu/permission.h"
#include "tests/unit/big_endian.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {
namespace {

using Verdict = Finding::Verdict;

constexpr uint64_t kPerfmon = uint64_t{1} << 38;
constexpr uint64_t kSysAdmin = uint64_t{1} << 21;
constexpr uint64_t kIpcLock = uint64_t{1} << 14;
constexpr const char* kPmu = "sys/bus/event_source/devices/htm/";

// A STATUS block: trace memory of 2^power, and entries.
std::string status_block(char power, const std::string& entries, uint64_t count) {
  std::string first = big_endian(0);
  first[1] = power;
  return first + big_endian(~uint64_t{0}) + big_endian(count) + big_endian(0) + entries;
}

void be_partition(const TemporaryFolder& root) {
  root.write("proc/cpuinfo",
             "processor\t: 0\ncpu\t\t: POWER10 (architected)\n\nplatform\t: pSeries\n");
}

std::string advice_of(const Finding& finding) {
  std::string text;
  for (const std::string& advice : finding.advice) text += advice + "\n";
  return text;
}

}  // namespace

TEST_CASE("hardware tracing requires a partition under PowerVM") {
  const TemporaryFolder root;
  CHECK(check_machine(root.path()).verdict == Verdict::kBad);
  root.write("proc/cpuinfo", "cpu\t\t: POWER10\nplatform\t: PowerNV\n");
  CHECK(check_machine(root.path()).what == "the platform is PowerNV");
  be_partition(root);
  CHECK(check_machine(root.path()).verdict == Verdict::kGood);
  CHECK(check_machine(root.path()).what == "a partition on POWER10 (architected)");
  root.write("proc/device-tree/hypervisor/compatible", std::string("linux,kvm\0", 10));
  CHECK(check_machine(root.path()).verdict == Verdict::kBad);
}

TEST_CASE("a missing driver is reported with the command that fixes it") {
  const TemporaryFolder root;
  const auto check = [&] {
    return check_driver(root.path(), "7.3.4", find_module(root.path(), "7.3.4").has_value(), true);
  };
  CHECK(advice_of(check()).find("linux-headers-7.3.4") != std::string::npos);
  root.write("lib/modules/7.3.4/build/Makefile", "");
  CHECK(advice_of(check()).starts_with("install the package htmtrace-dkms"));
  CHECK(advice_of(check()).find("make -C kmod && insmod") != std::string::npos);
  const Finding must_be_signed = check_driver(root.path(), "7.3.4", false, false);
  CHECK(advice_of(must_be_signed).find("insmod") == std::string::npos);
  // A package description and a folder without dkms.conf are not the driver's source.
  root.write("usr/src/htmtrace-htm-1.0.dsc", "");
  root.write("usr/src/htmtrace-htm-9.9/README", "");
  CHECK(advice_of(check()).starts_with("install the package htmtrace-dkms"));
  root.write("usr/src/htmtrace-htm-1.2.3/dkms.conf", "");
  CHECK(advice_of(check()) == "dkms install htmtrace-htm/1.2.3\n");
  root.write("lib/modules/7.3.4/updates/dkms/htm.ko.xz", "");
  CHECK(advice_of(check()) == "modprobe htm\n");
  CHECK(check().verdict == Verdict::kBad);

  root.write(std::string(kPmu) + "type", "11");
  CHECK(check().verdict == Verdict::kNotice);
  root.write(std::string(kPmu) + "capabilities", "");
  CHECK(check().verdict == Verdict::kGood);
}

TEST_CASE("an unreadable folder is reported, because it may have the driver or its source") {
  const TemporaryFolder root;
  const auto advice = [&] { return advice_of(check_driver(root.path(), "7.3.4", false, true)); };
  root.write("lib/modules/7.3.4/build/Makefile", "");
  CHECK(advice().find("cannot be read") == std::string::npos);
  // Not even root can read a link that leads to itself.
  std::filesystem::create_directory(root.path() / "usr");
  std::filesystem::create_symlink("src", root.path() / "usr/src");
  CHECK(advice().starts_with("repair /usr/src   (/usr/src cannot be read: Too many"));
  CHECK(advice().find("install the package htmtrace-dkms") != std::string::npos);
  std::filesystem::remove_all(root.path() / "lib/modules/7.3.4");
  std::filesystem::create_symlink("7.3.4", root.path() / "lib/modules/7.3.4");
  CHECK(advice().find("(/lib/modules/7.3.4 cannot be read: Too many") != std::string::npos);
}

TEST_CASE("lockdown allows perf, and an unreadable state is unknown") {
  const TemporaryFolder root;
  CHECK(check_lockdown(root.path()).verdict == Verdict::kUnknown);
  root.write("sys/kernel/security/lsm", "capability");  // securityfs of a kernel without lockdown
  CHECK(check_lockdown(root.path()).verdict == Verdict::kGood);
  root.write("sys/kernel/security/lockdown", "none integrity confidentiality\n");
  CHECK(check_lockdown(root.path()).verdict == Verdict::kUnknown);
  root.write("sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
  CHECK(check_lockdown(root.path()).what == "none");
  root.write("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
  CHECK(check_lockdown(root.path()).verdict == Verdict::kGood);
  root.write("sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
  CHECK(check_lockdown(root.path()).verdict == Verdict::kNotice);
}

TEST_CASE("the signature of the driver: who requires it, and which keys there are") {
  const TemporaryFolder root;
  const std::string release = "6.12.0";
  const auto check = [&](bool loaded = false) {
    return check_signature(root.path(), release, find_module(root.path(), release), loaded);
  };
  const auto says = [](const Finding& finding, Verdict verdict, std::string_view text) {
    CAPTURE(finding.what);
    CHECK(finding.verdict == verdict);
    CHECK(finding.what.find(text) != std::string::npos);
  };
  says(check(), Verdict::kUnknown, "the state of kernel lockdown cannot be read");
  root.write("sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
  root.write("proc/device-tree/ibm,secure-boot", std::string("\0\0\0\1", 4));  // only reports
  says(check(), Verdict::kGood, "not required");
  root.write("proc/device-tree/ibm,secure-boot", std::string("\0\0\0", 3));
  says(check(), Verdict::kUnknown, "the state of secure boot cannot be read");
  root.write("sys/module/module/parameters/sig_enforce", "N\n");
  says(check(), Verdict::kUnknown, "the state of secure boot cannot be read");
  root.write("sys/module/module/parameters/sig_enforce", "Y\n");
  says(check(), Verdict::kBad, "module.sig_enforce, and the partition has no keystore");
  root.write("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
  says(check(), Verdict::kBad, "required by kernel lockdown");
  root.write("proc/device-tree/ibm,secure-boot", std::string("\0\0\0\2", 4));
  says(check(), Verdict::kBad, "required by secure boot, and the partition has no keystore");
  CHECK(check(true).verdict == Verdict::kGood);
  // An earlier kernel, which reads moduledb only in the dynamic mode.
  root.write("sys/firmware/secvar/format", "ibm,plpks-sb-unknown\n");
  says(check(), Verdict::kBad, "the partition has static keys");
  CHECK(advice_of(check()).starts_with("boot Linux 6.17 or later"));
  root.write("sys/firmware/secvar/format", "ibm,plpks-sb-v0\n");
  root.write("sys/firmware/secvar/vars/moduledb/size", "0\n");
  says(check(), Verdict::kNotice, "no htm.ko is installed");
  CHECK(
      advice_of(check()).starts_with("after the build, unless DKMS has signed the driver: "
                                     "/lib/modules/6.12.0/build/scripts/sign-file "));
  root.write("lib/modules/6.12.0/extra/htm.ko.bak", "no module");
  says(check(), Verdict::kNotice, "no htm.ko is installed");
  root.write("lib/modules/6.12.0/extra/htm.ko", "ELF");
  says(check(), Verdict::kBad, "htm.ko has no signature");
  CHECK(advice_of(check()).find(" /lib/modules/6.12.0/extra/htm.ko\n") != std::string::npos);
  // Modules in updates come first.
  root.write("lib/modules/6.12.0/updates/htm.ko", "ELF...~Module signature appended~\n");
  says(check(), Verdict::kNotice, "htm.ko is signed, and moduledb is empty");
  CHECK(
      advice_of(check()).starts_with("modprobe htm\nif the kernel refuses the driver: secvarctl"));
  root.write("sys/firmware/secvar/vars/moduledb/size", "812\n");
  says(check(), Verdict::kNotice, "htm.ko is signed, and moduledb has keys");
  for (const char* bad : {"", "812junk", "-5", "0x10", "99999999999999999999999"}) {
    CAPTURE(bad);
    root.write("sys/firmware/secvar/vars/moduledb/size", bad);
    says(check(), Verdict::kNotice, "moduledb cannot be read");
  }
}

TEST_CASE("a folder in place of a file of the machine is unreadable") {
  const TemporaryFolder root;
  root.write("sys/firmware/secvar/vars/moduledb/size/file", "");
  root.write("sys/firmware/secvar/format", "ibm,plpks-sb-v1\n");
  root.write("proc/device-tree/ibm,secure-boot", std::string("\0\0\0\2", 4));
  root.write("lib/modules/6.12.0/htm.ko", "ELF...~Module signature appended~\n");
  CHECK(check_signature(root.path(), "6.12.0", find_module(root.path(), "6.12.0"), false).what ==
        "required by secure boot; htm.ko is signed, and moduledb cannot be read");
}

TEST_CASE("the processor decides which trace formats are known") {
  CHECK(pvr_in("2.0 (pvr 0080 0200)") == 0x00800200);
  for (const char* bad : {"", "2.0", "(pvr", "(pvr 0080", "(pvr 0080 ", "(pvr 10080 0200)",
                          "(pvr 0080,0200)", "(pvr x 0200)"}) {
    CAPTURE(bad);
    CHECK_FALSE(pvr_in(bad));
  }
  CHECK(find_processor(0x00830100)->name == std::string("POWER12"));
  CHECK(find_processor(0x00840100) == nullptr);
  const TemporaryFolder root;
  CHECK(check_formats(root.path()).verdict == Verdict::kUnknown);
  root.write("proc/cpuinfo", "revision\t: 2.0 (pvr 0080 0200)\n");
  CHECK(check_formats(root.path()).verdict == Verdict::kGood);
  root.write("proc/cpuinfo", "revision\t: 1.0 (pvr 0082 0100)\n");
  CHECK(check_formats(root.path()).what ==
        "POWER11: core records not public, read as POWER10's; nest records not public, printed "
        "unchanged");
  root.write("proc/cpuinfo", "revision\t: 1.0 (pvr 0099 0100)\n");
  CHECK(check_formats(root.path()).verdict == Verdict::kNotice);
}

TEST_CASE("CAP_PERFMON is required at every perf_event_paranoid level") {
  const TemporaryFolder root;
  CHECK(check_permission(root.path(), {}).what == "the kernel has no perf events");
  root.write("proc/sys/kernel/perf_event_paranoid", "-1\n");
  const Finding refused = check_permission(root.path(), {});
  CHECK(refused.verdict == Verdict::kBad);
  CHECK(refused.what == "CAP_PERFMON is missing (kernel.perf_event_paranoid is -1)");
  CHECK(advice_of(refused).find("setcap cap_perfmon,cap_ipc_lock=ep") != std::string::npos);
  CHECK(check_permission(root.path(), {.effective_capabilities = kPerfmon}).verdict ==
        Verdict::kGood);
}

TEST_CASE("at perf_event_paranoid 3, Debian's kernels require CAP_SYS_ADMIN") {
  const TemporaryFolder root;
  root.write("proc/sys/kernel/perf_event_paranoid", "3\n");
  const Finding doubtful = check_permission(root.path(), {.effective_capabilities = kPerfmon});
  CHECK(doubtful.verdict == Verdict::kNotice);
  CHECK(advice_of(doubtful).find("run htmtrace as root") == 0);
  CHECK(check_permission(root.path(), {.effective_capabilities = kPerfmon | kSysAdmin}).verdict ==
        Verdict::kGood);
  CHECK(permission_hint(root.path()).find("require CAP_SYS_ADMIN") != std::string::npos);
  root.write("proc/sys/kernel/perf_event_paranoid", "2\n");
  CHECK(permission_hint(root.path()) ==
        "grant CAP_PERFMON or run as root (kernel.perf_event_paranoid is 2)");
}

TEST_CASE("the memory-lock limit is the sum of its parts") {
  const TemporaryFolder root;
  root.write("proc/sys/kernel/perf_event_paranoid", "2\n");
  root.write("proc/sys/kernel/perf_event_mlock_kb", "512\n");
  root.write("sys/devices/system/cpu/online", "0-2,8\n");
  const Privileges user{.effective_capabilities = kPerfmon, .lock_limit_bytes = 1 << 20};
  CHECK(check_memory_lock(root.path(), user, 1, 3 << 20).verdict == Verdict::kGood);
  const Finding small = check_memory_lock(root.path(), user, 2, 3 << 20);
  CHECK(small.verdict == Verdict::kNotice);
  CHECK(small.what.find("3.0 MiB may be locked (kernel.perf_event_mlock_kb 512 on 4 CPUs") == 0);
  const Privileges locker{.effective_capabilities = kIpcLock, .lock_limit_bytes = 0};
  CHECK(check_memory_lock(root.path(), locker, 99, 3 << 20).verdict == Verdict::kGood);
  root.write("proc/sys/kernel/perf_event_paranoid", "-1\n");
  CHECK(check_memory_lock(root.path(), user, 99, 3 << 20).verdict == Verdict::kGood);
}

TEST_CASE("carriers, threads, disk") {
  CHECK(check_carriers(2, 2).verdict == Verdict::kGood);
  CHECK(check_carriers(3, 2).verdict == Verdict::kBad);
  const TemporaryFolder root;
  CHECK(check_threads(root.path(), true).verdict == Verdict::kGood);
  root.write("sys/devices/system/cpu/smt/active", "1\n");
  CHECK(check_threads(root.path(), true).verdict == Verdict::kNotice);
  CHECK(check_threads(root.path(), false).verdict == Verdict::kGood);
  CHECK(check_disk(root.path() / "not" / "yet", 1).verdict == Verdict::kGood);
  CHECK(check_disk(root.path(), uint64_t{1} << 60).verdict == Verdict::kNotice);
  root.write("file", "");
  CHECK(check_disk(root.path() / "file", 1).verdict == Verdict::kBad);
}

TEST_CASE("trace memory has the size that the hypervisor reports") {
  const TemporaryFolder root;
  const std::vector<TraceTarget> targets = {
      {.chip = 0, .core = 1}, {.chip = 0, .core = 2}, {.chip = 0, .type = HtmType::kNest}};
  uint64_t bytes = 0;
  CHECK(check_trace_memory(root.path(), targets, bytes)
            .empty());  // the test machine does not have our driver

  root.write(std::string(kPmu) + "capabilities", "");
  root.write(std::string(kPmu) + "status_core", status_block(26, std::string(16, 'x'), 2));
  root.write(std::string(kPmu) + "status_nest", status_block(0, "", 0));
  const auto findings = check_trace_memory(root.path(), targets, bytes);
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].what == "64.0 MiB of trace memory for each target");
  CHECK(findings[1].verdict == Verdict::kBad);
  CHECK(bytes == 128 << 20);
}

TEST_CASE("the hypervisor's lists are parsed as far as they are documented") {
  const std::string one = status_block(26, std::string(16, 'a'), 2);
  const std::string two = status_block(26, std::string(8, 'b'), 1);
  const auto parse = [](const std::string& text, size_t entry_bytes) {
    return parse_htm_blocks(std::as_bytes(std::span(text)), entry_bytes);
  };
  const std::string both = one + two;
  HtmBlocks blocks = parse(both, kCoreStatusEntryBytes);
  CHECK(blocks.entries.size() == 3);
  CHECK(blocks.memory_bytes == 64 << 20);
  CHECK(blocks.rest_bytes == 0);
  CHECK(std::to_integer<char>(blocks.entries[2][0]) == 'b');

  const std::string cut = both.substr(0, both.size() - 1);
  blocks = parse(cut, kCoreStatusEntryBytes);
  CHECK(blocks.entries.size() == 2);
  CHECK(blocks.rest_bytes == 39);
  const std::string lying = status_block(26, "", ~uint64_t{0});
  CHECK(parse(lying, kCoreStatusEntryBytes).entries.empty());
  CHECK_FALSE(parse(status_block(11, "", 0), 8).memory_bytes);
  CHECK_FALSE(parse(status_block(49, "", 0), 8).memory_bytes);
  CHECK_FALSE(parse("", 8).memory_bytes);
}

TEST_CASE("a block of the hypervisor ends with its last whole entry") {
  const std::string text = status_block(26, std::string(20, 'a'), 3);
  const auto bytes = std::as_bytes(std::span(text));
  const auto block = parse_htm_block(bytes, bytes.size(), kCoreStatusEntryBytes);
  REQUIRE(block);
  CHECK(block->announced == 3);
  CHECK(block->entries == 2);
  CHECK(block->truncated());
  CHECK(block->size_bytes == 48);
  CHECK(block->is_last());
  const auto header = bytes.first(kHtmBlockHeaderBytes);
  CHECK_FALSE(parse_htm_block(header, 56, kCoreStatusEntryBytes)->truncated());
  CHECK_FALSE(parse_htm_block(header, 31, kCoreStatusEntryBytes));
  CHECK_FALSE(parse_htm_block(header.first(31), 56, kCoreStatusEntryBytes));
}

}  // namespace htmtrace

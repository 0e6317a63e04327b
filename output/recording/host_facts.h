// SPDX-License-Identifier: GPL-2.0-or-later
// The machine's properties that a manifest states.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace htmtrace {

struct HostFacts {
  std::string kernel_release;   // uname -r
  std::string kernel_version;   // uname -v
  std::string machine;          // uname -m
  std::string kernel_build_id;  // its bytes; empty: unknown
  std::optional<uint32_t> pvr;  // POWER's processor version register; empty on other machines
  uint64_t page_size_bytes = 0;
  std::optional<uint64_t> timebase_hz;   // POWER's time base; empty on other machines
  std::optional<uint64_t> partition_id;  // LP index; empty outside a logical partition
  // True if the hypervisor may move a CPU to another core at any time, or if a partition does not
  // state whether it may.
  bool shares_processors = false;
  // "cannot read PATH: REASON" for each file of /proc or /sys that exists but cannot be read,
  // except the device tree. The facts in these files may be unknown.
  std::vector<std::string> unread;
};

// `root` replaces "/" for the files of /proc and /sys. The properties of uname(2) and the page
// size are always those of this machine.
HostFacts read_host_facts(const std::filesystem::path& root = "/");

}  // namespace htmtrace

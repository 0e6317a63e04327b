// SPDX-License-Identifier: GPL-2.0-or-later
// What the htm driver of htmtrace tells of the machine, from its files in sysfs (kmod/ABI). Other
// drivers have no such files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/htm_blocks.h"
#include "core/trace_target.h"

namespace htmtrace {

// A file with the hypervisor's answer.
struct HtmAnswer {
  std::vector<std::byte> bytes;
  int error_number = 0;  // of open or read; the driver gives the hypervisor's refusals as errno

  bool exists() const;
  bool readable() const { return error_number == 0; }
};

HtmAnswer read_htm_answer(const std::filesystem::path& file);

// "status_core" and so on: the state of all macros of a type.
std::string status_file(HtmType type);
size_t status_entry_bytes(HtmType type);

// True when the PMU in `folder` is that of htmtrace's own driver.
bool is_own_driver(const std::filesystem::path& folder);

}  // namespace htmtrace

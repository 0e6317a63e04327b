// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the sysfs files in which htmtrace's own htm driver describes the machine (kmod/ABI). Other
// drivers have no such files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/target.h"
#include "core/memory_map/blocks.h"

namespace htmtrace {

// A file with an answer of the hypervisor.
struct HtmAnswer {
  std::vector<std::byte> bytes;
  int error_number = 0;  // of open or read; the driver returns the hypervisor's refusals as errno

  bool readable() const { return error_number == 0; }
};

HtmAnswer read_htm_answer(const std::filesystem::path& file);

// The file with the state of all macros of a type, for example "status_core".
std::string status_file(HtmType type);
size_t status_entry_bytes(HtmType type);

// True if the PMU in `folder` belongs to htmtrace's own driver.
bool is_own_driver(const std::filesystem::path& folder);

}  // namespace htmtrace

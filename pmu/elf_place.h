// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the file offset of a function, which the kernel requires for a uprobe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace htmtrace {

// The file offset of `symbol`. On POWER, the offset of the local entry point, which calls from
// other modules also pass. Throws Error if the file is not a program or library of this machine, or
// does not define the symbol exactly once.
uint64_t elf_file_offset(const std::filesystem::path& file, const std::string& symbol);

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
// Where in a program's file a function begins: that is how the kernel wants a uprobe's place.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace htmtrace {

// The file offset of `symbol`, at the local entry point where POWER's ABI has two: calls from
// elsewhere pass it, too. Throws Error when the file is no program or library of this machine, or
// has no such symbol, or several.
uint64_t elf_file_offset(const std::filesystem::path& file, const std::string& symbol);

}  // namespace htmtrace

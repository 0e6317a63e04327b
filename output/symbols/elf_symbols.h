// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the names of code and data from an ELF file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "core/analysis/symbol_table.h"

namespace htmtrace {

// Returns whether this build can read ELF files (this needs libelf).
bool can_read_elf();

// Adds the symbols of the file's symbol table, or of the dynamic symbol table of a stripped file.
// The file becomes a separate program unless it is a kernel. `loaded_at` is the address of the
// first loadable segment. Without `loaded_at`, addresses are the addresses in the file. Returns the
// number of symbols. Throws Error.
size_t add_elf_symbols(const std::filesystem::path& path, std::optional<uint64_t> loaded_at,
                       SymbolTable& table);

}  // namespace htmtrace

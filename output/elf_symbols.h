// SPDX-License-Identifier: GPL-2.0-or-later
// Names of code and data in an ELF file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "core/symbol_table.h"

namespace htmtrace {

// Whether this build can (it needs libelf).
bool can_read_elf();

// Adds the symbols of the file's symbol table, or of its dynamic symbol table if it was stripped.
// The file becomes a program of its own unless it is a kernel. Returns the number of symbols.
// `loaded_at` is the address of its first loadable segment; without it, addresses are those in the
// file. Throws Error.
size_t add_elf_symbols(const std::filesystem::path& path, std::optional<uint64_t> loaded_at,
                       SymbolTable& table);

}  // namespace htmtrace

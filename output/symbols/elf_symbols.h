// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the names of code and data from an ELF file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/analysis/symbol_table.h"
#include "output/symbols/program_maps.h"

namespace htmtrace {

// Returns whether this build can read ELF files (this needs libelf).
bool can_read_elf();

// What a recording states about a program file.
struct RecordedProgram {
  std::string path;  // in the recording; empty: unknown
  // A mapping of the file's code, which determines the load address. Null: unknown.
  const CodeMapping* mapping = nullptr;
  // No user named the file: a wrong name is worse than no name.
  bool is_automatic = false;
};

// Adds the symbols of the file's symbol table, or of the dynamic symbol table of a stripped file.
// The file becomes a separate program unless it is a kernel. `loaded_at` is the address of the
// first loadable segment. Without `loaded_at` and a recorded mapping, addresses are the addresses
// in the file. Returns the number of symbols. Throws Error, also if the mapping cannot be of the
// file.
size_t add_elf_symbols(const std::filesystem::path& path, std::optional<uint64_t> loaded_at,
                       SymbolTable& table, const RecordedProgram& recorded = {});

}  // namespace htmtrace

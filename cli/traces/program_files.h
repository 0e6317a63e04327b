// SPDX-License-Identifier: GPL-2.0-or-later
// The program files of a recording, whose names readers find by themselves.
#pragma once

#include <string>
#include <vector>

#include "core/analysis/symbol_table.h"
#include "output/symbols/program_maps.h"

namespace htmtrace {

// Returns the recorded files that exist on this machine with the recorded size and are ELF files
// for 64-bit POWER. A recording can name any file, so only these may become readable in the
// sandbox.
std::vector<std::string> usable_files(const ProgramMaps& maps);

// Adds the names of a file that the user named, at each address at which the recording has this
// file: the file with the same path or, without such a file, the only file with the same name. If
// the recording does not have the file, the addresses are those in the file. Throws Error.
void add_named_file(const std::string& path, const ProgramMaps& maps, SymbolTable& table);

// Adds the names of all other recorded files that are the same as during the recording. Warns of
// the files that are missing or differ. A file in `given` needs no names: the user has named it.
void add_recorded_files(const ProgramMaps& maps, const std::vector<std::string>& given,
                        SymbolTable& table);

}  // namespace htmtrace

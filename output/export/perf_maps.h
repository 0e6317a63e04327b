// SPDX-License-Identifier: GPL-2.0-or-later
// The processes, files and kernel code of a recording, as mappings of files. perf needs this form
// to name addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/analysis/symbol_table.h"
#include "output/symbols/page_names.h"

namespace htmtrace {

struct PerfMaps {
  static constexpr size_t kMostPathBytes = 4095;  // PATH_MAX of Linux
  struct File {
    std::string path;
    std::string build_id;  // its bytes; empty: unknown
  };
  struct Mapping {
    uint64_t address = 0;
    uint64_t bytes = 0;
    uint64_t offset = 0;  // in the file
    uint64_t inode = 0;   // 0: unknown
    size_t file = 0;      // index in files
    bool is_code = false;
  };
  struct Process {
    uint64_t pid = 0;
    std::string command;
    std::vector<Mapping> mappings;
  };
  // A program file at one address, as in SymbolTable::programs().
  struct Program {
    uint64_t begin = 0;
    uint64_t end = 0;
    std::vector<Mapping> mappings;

    bool holds(uint64_t address) const { return address - begin < end - begin; }
    bool overlaps(const Program& other) const { return begin < other.end && other.begin < end; }
  };
  // The code of the kernel or of a module.
  struct Kernel {
    std::string name;  // "[kernel.kallsyms]_text", "[module]"
    uint64_t begin = 0;
    uint64_t end = 0;
    uint64_t reference = 0;     // the address of _text; 0 for a module
    std::string build_id = {};  // its bytes; empty: unknown
  };

  std::vector<File> files;
  std::vector<Process> processes;
  std::vector<Program> programs;
  std::vector<Kernel> kernel;  // the kernel itself comes first

  // The files of the processes and programs are those that htmtrace read for `symbols`. A file that
  // htmtrace did not read has its path in the recording, followed by "?". Without the "?", perf
  // would read names from any file with this path, and from its own vDSO.
  static PerfMaps of(const SymbolTable& symbols, const std::vector<PageNames::Process>& processes,
                     const std::string& kernel_build_id = {});
};

}  // namespace htmtrace

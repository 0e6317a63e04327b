// SPDX-License-Identifier: GPL-2.0-or-later
// Names logical addresses. Sources are the workload's memory as `record` saw it
// (htm.pages), and the names of the kernel. A bus carries machine addresses only, so the owner of
// an address must be known from another source.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/page_owners.h"
#include "core/analysis/symbol_table.h"
#include "core/base/address.h"
#include "core/base/budget.h"

namespace htmtrace {

class PageNames {
 public:
  struct Mapping {
    uint64_t begin = 0;
    uint64_t end = 0;
    uint64_t offset = 0;  // offset in the file
    uint64_t inode = 0;
    std::string path;      // "[heap]", or empty for memory without a file
    bool is_code = false;  // executable
  };
  // A file with symbols that the process has mapped.
  struct Object {
    uint64_t begin = 0;  // of its lowest mapping
    size_t symbols = 0;  // index in symbols_
  };
  struct Process {
    uint64_t pid = 0;
    uint64_t seen_ms = 0;  // milliseconds since the start of the trace
    std::string command;
    std::vector<Mapping> mappings;
    std::vector<Object> objects;
  };

  // `known` holds names of effective addresses: those of the kernel and of the user's files. It
  // must outlive this object. Without an added file, only the kernel has names.
  explicit PageNames(const SymbolTable& known) : known_(known) {}

  // Accepts any bytes. Returns the number of malformed lines. Throws Error when the names would
  // take too much memory.
  size_t add_file(std::string_view text);

  // Adds the names of each file that a process had mapped. Reads the file of the same name in
  // `files`, or the original file if it still exists. Files that are not ELF files, or have no
  // symbols, add no names. Returns the number of files whose names would take too much memory.
  size_t add_symbols(const std::vector<std::filesystem::path>& files);

  // Returns "hammer: array+0x80", "hammer: [heap]+0x1000" or "jiffies". Empty if the address is
  // unknown.
  std::string name(LogicalAddr address) const;

  // Moves out the owners of all added pages. Call it once.
  PageOwners take_owners();

  const std::vector<Process>& processes() const { return processes_; }
  size_t runs() const { return runs_.size(); }

 private:
  // Consecutive pages of one mapping.
  struct Run {
    uint64_t la = 0;
    uint64_t size_bytes = 0;
    uint64_t ea = 0;
    uint32_t process = 0;
    uint32_t mapping = 0;
  };

  bool add_line(std::string_view line);
  bool add_process(std::string_view line);
  bool add_mapping(std::string_view line);
  bool add_run(std::string_view line);
  void sort_runs();
  std::string name(const Run& run, LogicalAddr address) const;
  const SymbolTable::Symbol* symbol_of(const Process& process, uint64_t ea, uint64_t& at) const;
  std::optional<size_t> symbols_of(const std::filesystem::path& file);

  const SymbolTable& known_;
  std::vector<Process> processes_;
  std::vector<Run> runs_;  // sorted by logical address, without overlaps
  PageOwners owners_;
  // The symbols of each file by the distance from its begin: many processes map the same file.
  std::vector<SymbolTable> symbols_;
  std::map<std::filesystem::path, std::optional<size_t>> known_files_;  // indexes of symbols_
  size_t files_without_room_ = 0;
  MemoryBudget budget_;
};

// Returns a line about the known processes for people, with its line end. Empty if no process is
// known.
std::string describe(const PageNames& names);

}  // namespace htmtrace

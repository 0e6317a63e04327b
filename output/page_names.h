// SPDX-License-Identifier: GPL-2.0-or-later
// Names of logical addresses, from what `record --symbols` saw of the workload's memory (htm.pages)
// and from the names of the kernel. On a bus there are only machine addresses: whose memory one of
// them is must be known from elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/address.h"
#include "core/page_owners.h"
#include "core/symbol_table.h"

namespace htmtrace {

class PageNames {
 public:
  struct Mapping {
    uint64_t begin = 0;
    uint64_t offset = 0;  // in the file
    uint64_t inode = 0;
    std::string path;  // "[heap]", or empty: no file
  };
  struct Process {
    uint64_t pid = 0;
    uint64_t seen_ms = 0;  // after the trace had begun
    std::string command;
    std::vector<Mapping> mappings;
    SymbolTable symbols;  // of its files, by effective address
  };

  // `known`: names of effective addresses, of the kernel and of what the user gave; it must outlive
  // this object. Without a file only the kernel has names.
  explicit PageNames(const SymbolTable& known) : known_(known) {}

  // Any bytes will do; returns how many lines make no sense.
  size_t add_file(std::string_view text);

  // Names of each file that a process had mapped: from one of `files` with the same name, or from
  // the very file, if it is still there. What is no ELF file, or has no symbols, gives none.
  void add_symbols(const std::vector<std::filesystem::path>& files);

  // "hammer: array+0x80", "hammer: [heap]+0x1000", "jiffies"; empty when nothing is known.
  std::string name(LogicalAddr address) const;

  // Moves out the owners of all added pages. Call it once.
  PageOwners take_owners();

  const std::vector<Process>& processes() const { return processes_; }
  size_t runs() const { return runs_.size(); }

 private:
  // Of pages of one mapping that follow one another.
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

  const SymbolTable& known_;
  std::vector<Process> processes_;
  std::vector<Run> runs_;  // by logical address, without overlaps
  PageOwners owners_;
};

// A line for people about the processes that are known, with its end; empty when there is none.
std::string describe(const PageNames& names);

}  // namespace htmtrace

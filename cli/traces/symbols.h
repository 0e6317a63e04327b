// SPDX-License-Identifier: GPL-2.0-or-later
// The sources of symbol names.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/analysis/symbol_table.h"
#include "output/symbols/mapping_names.h"
#include "output/symbols/page_names.h"

namespace htmtrace {

struct SymbolOptions {
  std::string kallsyms;          // empty: the file of the recording
  std::vector<std::string> elf;  // FILE[@ADDRESS], in addition to the files of the recording
};

// --kallsyms and --elf.
void declare_symbols(CLI::App& app, SymbolOptions& options);

// Returns the files that the options name.
std::vector<std::string> files_of(const SymbolOptions& options);

// Returns these files, and the program files of the recordings at `paths`: all files that
// RecordedSymbols reads beside the recordings. Call it before the command enters the sandbox.
// Throws Error.
std::vector<std::string> inputs_of(const SymbolOptions& options,
                                   const std::vector<std::string>& paths);

// Throws CLI::ValidationError if this build does not support an option.
void check(const SymbolOptions& options);

struct SymbolLoading {
  bool owners = false;  // loads the recorded owners of pages even if there are no programs
  bool quiet = false;   // prints no notes
};

// The symbols for the traces of one or several recordings.
class RecordedSymbols {
 public:
  // Loads the symbols for the traces at `paths`. Warns on stderr about unusable names. Throws
  // Error.
  RecordedSymbols(const SymbolOptions& options, const std::vector<std::string>& paths,
                  const SymbolLoading& how = {});
  RecordedSymbols(const RecordedSymbols&) = delete;
  RecordedSymbols& operator=(const RecordedSymbols&) = delete;

  // The reference stays valid while this object exists.
  const SymbolTable& table() const { return table_; }

  // Call this before the core trace at `path` is read. Sets the page owners of the table to those
  // of its recording, if a program needs them. Returns true if they changed. Warns and throws like
  // the constructor.
  bool enter(const std::string& path);
  // Returns true if the paths have different files of pages, or only some of them have one.
  bool has_several() const { return has_several_; }
  // "the recording", or with several recordings "the recording in FOLDER": that of the last
  // enter().
  const std::string& current() const { return current_; }
  // Prints the warning unless it was printed before.
  void warn_once(const std::string& text);

 private:
  bool is_new(const std::string& message) { return printed_.insert(message).second; }

  SymbolLoading how_;
  SymbolTable table_;
  bool has_several_ = false;
  bool needs_owners_ = false;
  std::optional<std::string> entered_;  // the file of pages; empty: the recording has none
  std::string current_;
  std::set<std::string> printed_;
};

// Loads the owners of the pages that record saved beside the trace at `path`. Throws Error.
PageOwners load_page_owners(const std::string& path);

// The processes that record saved with a trace, and their mappings.
struct RecordedProcesses {
  std::vector<PageNames::Process> processes;
  bool has_provable = false;  // PageOwners::has_provable()
};
// Loads the processes of the trace at `path`. Throws Error.
RecordedProcesses load_processes(const std::string& path);

// Loads the names of logical addresses, from `known` and the pages that record saved. The
// memory of programs has no names if the paths are of several recordings, because a logical address
// can have another owner in each.
// Warns and throws like RecordedSymbols. `known` must outlive the result.
PageNames load_page_names(const SymbolOptions& options, const std::vector<std::string>& paths,
                          const SymbolTable& known);

// Loads the names of mappings, for effective addresses without a symbol in the trace at `path`,
// from the maps that record saved. Throws Error.
MappingNames load_mapping_names(const std::string& path);

}  // namespace htmtrace

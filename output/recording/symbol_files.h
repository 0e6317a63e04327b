// SPDX-License-Identifier: GPL-2.0-or-later
// Copies the sources of symbol names, which exist only while the machine runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "output/io/input_file.h"
#include "output/io/trace_sink.h"
#include "output/recording/process_pages.h"

namespace htmtrace {

// Copies /proc/kallsyms. Returns false if the kernel hides the addresses from the process that
// opened the file. Throws Error.
bool save_kallsyms(InputFile& kallsyms, TraceSink& sink);

// Appends the maps of all readable processes. Each follows a line "# pid N START COMMAND". START is
// field 22 of /proc/N/stat, which distinguishes processes with the same pid. `when` goes into the
// first line. Returns the number of processes. Throws Error if `proc` cannot be read.
uint64_t save_maps(const std::filesystem::path& proc, const std::string& when, TraceSink& sink);

// The symbol files in the folder of a recording. The constructor creates them and throws Error.
// They appear at begin().
class SymbolFiles {
 public:
  // `kallsyms` is /proc/kallsyms, which is read at the end. `pages`: also save the pages of a
  // workload.
  SymbolFiles(const std::filesystem::path& folder, Existing existing, InputFile kallsyms,
              bool pages);

  // Throws Error.
  void begin();
  // Throws Error.
  void add_maps(const std::string& when) { save_maps("/proc", when, maps_); }
  // Call this once, and only if pages are saved.
  void add_pages(ProcessPages& pages) { pages.write(*pages_); }
  // Copies the names and closes the files. Returns false if the kernel hides the addresses. Throws
  // Error.
  bool finish();
  void discard();

 private:
  InputFile kernel_;
  TraceSink kallsyms_;
  TraceSink maps_;
  std::optional<TraceSink> pages_;
};

}  // namespace htmtrace

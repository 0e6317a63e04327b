// SPDX-License-Identifier: GPL-2.0-or-later
// Copies the sources of symbol names, which exist only while the machine runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

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
// They appear at begin() or, if that was not called, at finish().
class SymbolFiles {
 public:
  struct Parts {
    bool kallsyms = false;
    bool maps = false;
    bool pages = false;
  };
  SymbolFiles(const std::filesystem::path& folder, Existing existing, Parts parts);

  // Throws Error.
  void begin();
  // Call the following functions only for existing parts.
  // Throws Error.
  void add_maps(const std::string& when) { save_maps("/proc", when, *maps_); }
  void add_to_maps(std::string_view text);
  // Call this once. Removes the file if it would be empty.
  void add_pages(int own_pagemap, ProcessPages& pages);
  // Copies /proc/kallsyms. Removes the file and returns false if the kernel hides the addresses.
  // Throws Error.
  bool add_kallsyms(InputFile& kallsyms);
  // Closes the files. Throws Error.
  void finish();
  void discard();

 private:
  // Calls use(sink) for each part.
  template <class Use>
  void each(const Use& use);

  std::optional<TraceSink> kallsyms_;
  std::optional<TraceSink> maps_;
  std::optional<TraceSink> pages_;
};

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
// Copies of what names the addresses in a trace: they are only there while the machine runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "output/process_pages.h"
#include "output/trace_sink.h"

namespace htmtrace {

inline constexpr const char* kKallsymsName = "htm.kallsyms";
inline constexpr const char* kMapsName = "htm.maps";

// Copies /proc/kallsyms. False when it shows no addresses to this process. Throws Error.
bool save_kallsyms(const std::filesystem::path& proc, TraceSink& sink);

// Appends the maps of all processes that may be looked at, each below a line
// "# pid N START COMMAND", START being field 22 of /proc/N/stat: a number that no other process
// with this pid has. `when` is in the first line. Returns how many. Throws Error when `proc` cannot
// be read.
uint64_t save_maps(const std::filesystem::path& proc, const std::string& when, TraceSink& sink);

// All in the folder of a recording. Creates them; throws Error.
class SymbolFiles {
 public:
  // `pages`: of a workload are saved, too.
  SymbolFiles(const std::filesystem::path& folder, Existing existing, bool pages);

  // Throws Error.
  void add_maps(const std::string& when) { save_maps("/proc", when, maps_); }
  // Once, if they are saved.
  void add_pages(ProcessPages& pages) { pages.write(*pages_); }
  // Copies the names, closes the files. False when there are no addresses. Throws Error.
  bool finish();
  void discard();

 private:
  TraceSink kallsyms_;
  TraceSink maps_;
  std::optional<TraceSink> pages_;
};

}  // namespace htmtrace

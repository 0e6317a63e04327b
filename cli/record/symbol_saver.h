// SPDX-License-Identifier: GPL-2.0-or-later
// Saves the names of `--symbols`, and chooses the times at which it reads the memory of processes.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "output/io/input_file.h"
#include "output/io/trace_sink.h"
#include "output/recording/process_pages.h"
#include "output/recording/symbol_files.h"

namespace htmtrace {

class SymbolSaver {
 public:
  using Clock = std::chrono::steady_clock;

  // Creates the files in `folder`. `kallsyms` is /proc/kallsyms. With a `workload`, also saves the
  // pages of this process and its descendants: bus addresses, and program addresses in a core
  // trace, get names only from the pages. Throws Error.
  SymbolSaver(const std::filesystem::path& folder, Existing existing, InputFile kallsyms,
              std::optional<pid_t> workload);

  // The files appear. Throws Error.
  void publish() { files_.begin(); }
  // The first trace has begun, and the workload runs.
  void begin();
  // Reads the pages and the maps that are due. Call it now and then, and at next_look(). Has no
  // effect before begin(). Throws Error.
  void look();
  std::optional<Clock::time_point> next_look() const { return next_look_; }
  // Reads everything again, prints warnings, and closes the files. Call it while a running workload
  // still has its maps. Throws Error.
  void finish();
  void discard() { files_.discard(); }

 private:
  enum class State : uint8_t {
    kNotBegun,
    kPagesDue,   // the pages come first
    kMapsDue,    // the maps of all processes come next
    kMapsSaved,  // only the pages change
  };

  void read_pages();
  void save_pages();

  SymbolFiles files_;
  std::optional<ProcessPages> pages_;  // of the workload
  State state_ = State::kNotBegun;
  Clock::time_point begin_;
  std::optional<Clock::time_point> next_look_;  // at the pages
};

}  // namespace htmtrace

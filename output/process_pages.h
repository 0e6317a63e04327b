// SPDX-License-Identifier: GPL-2.0-or-later
// Where the memory of a recording's workload lies: its processes' maps, with the logical real
// address of each page that is in memory. With it an address on a bus can be named. The kernel
// tells it only while a process runs, so it is looked at again and again, and what was seen last is
// kept. The file is in htmtrace-record(1), --symbols.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "output/trace_sink.h"

namespace htmtrace {

inline constexpr const char* kPagesName = "htm.pages";

class ProcessPages {
 public:
  // `proc`: /proc. `root`: the process whose pages, and those of its descendants, are wanted.
  ProcessPages(std::filesystem::path proc, pid_t root, uint64_t page_bytes)
      : proc_(std::move(proc)), root_(root), page_bytes_(page_bytes) {}

  // Looks at all of them. `since`: of the beginning of the trace.
  void look(std::chrono::milliseconds since);

  // Writes the last known pages of each process, and the pages in memory that hold the code of the
  // mapped files. Those pages prove that an instruction belongs to a file. Releases the memory of
  // this data.
  void write(TraceSink& sink);

  uint64_t processes() const { return seen_.size(); }
  // Pages were there, but their places were hidden: that takes CAP_SYS_ADMIN
  // (Documentation/admin-guide/mm/pagemap.rst).
  bool hidden() const { return hidden_; }
  // There was more memory than is looked at.
  bool cut() const { return cut_; }

 private:
  // Of pagemap entries, of all processes together: 4 million pages are 256 GiB in pages of 64 KiB,
  // and take 32 MiB to read.
  static constexpr uint64_t kMostPages = 4 << 20;
  static constexpr size_t kMostTextBytes = 64 << 20;

  struct Process {
    std::string start;  // field 22 of its stat
    std::string text;
  };

  std::map<pid_t, std::string> descendants() const;
  std::optional<std::string> pages_of(pid_t pid, uint64_t& left);
  std::string pages_of_files();
  bool add_file_pages(const std::string& mapping, std::string& text);
  bool add_mapping(int pagemap, uint64_t begin, uint64_t end, std::string& text,
                   uint64_t moved = 0);

  std::filesystem::path proc_;
  pid_t root_;
  uint64_t page_bytes_;
  std::map<pid_t, Process> seen_;
  size_t text_bytes_ = 0;
  bool hidden_ = false;
  bool cut_ = false;
};

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
// Locates the memory of a recording's workload: its processes' maps, with the logical real address
// of each page in memory. These pages give names to bus addresses. The kernel shows the pages only
// while a process runs, so look() repeats, and the last result of each process is kept.
// htmtrace-record(1), Pages, describes the file.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "output/io/trace_sink.h"
#include "output/symbols/proc_text.h"
#include "output/symbols/program_maps.h"

namespace htmtrace {

class ProcessPages {
 public:
  // `proc` is /proc. `root` is the process whose pages, and whose descendants' pages, are recorded.
  ProcessPages(std::filesystem::path proc, pid_t root, uint64_t page_bytes)
      : proc_(std::move(proc)), root_(root), page_bytes_(page_bytes) {}

  // Reads the pages of all processes. `since` is the time since the start of the trace.
  void look(std::chrono::milliseconds since);

  // Sets the processes that created other processes. Call it only if the recorder saw all of them.
  // Without this call, write() does not state that a process is the only owner of its pages.
  void set_parents(std::set<pid_t> parents) { parents_ = std::move(parents); }

  // Also write() the pages of the file of this mapping.
  void add_file(const CodeMapping& mapping) { more_files_.push_back(one_line(maps_line(mapping))); }

  // Writes the last known pages of each process, and the pages in memory that hold the code of the
  // mapped files. Those pages prove that an instruction belongs to a file. `own_pagemap` is
  // /proc/self/pagemap. Returns false, and writes nothing, if no pages are known. Releases the
  // memory of this data.
  bool write(int own_pagemap, TraceSink& sink);

  uint64_t processes() const { return seen_.size(); }
  // Pages were in memory, but the kernel hid their addresses. Reading the addresses requires
  // CAP_SYS_ADMIN (Documentation/admin-guide/mm/pagemap.rst).
  bool hidden() const { return hidden_; }
  // The processes or files had more memory than the limit.
  bool cut() const { return cut_; }

 private:
  // The limit for pagemap entries of all processes together, and for those of all files. 4 million
  // pages are 256 GiB in pages of 64 KiB, and take 32 MiB to read.
  static constexpr uint64_t kMostPages = 4 << 20;
  static constexpr size_t kMostTextBytes = 64 << 20;

  struct Process {
    std::string start;  // field 22 of its stat
    std::string head;   // its first line
    std::string text;
    // It has executed a program itself, and the kernel chose the addresses at random.
    bool has_new_addresses = false;

    size_t bytes() const { return head.size() + text.size(); }
  };

  std::map<pid_t, std::string> descendants();
  std::optional<std::string> pages_of(pid_t pid, uint64_t& left);
  std::string pages_of_files(int own_pagemap);
  bool add_file_pages(const std::string& mapping, int own_pagemap, std::string& text);
  bool add_mapping(int pagemap, uint64_t begin, uint64_t end, std::string& text);
  bool add_file_mapping(int pagemap, uint64_t begin, uint64_t end, uint64_t offset,
                        std::string& text);
  template <class Put>
  bool add_runs(int pagemap, uint64_t begin, uint64_t end, const Put& put);
  bool is_only_owner(pid_t pid, const Process& process) const;

  std::filesystem::path proc_;
  pid_t root_;
  uint64_t page_bytes_;
  std::map<pid_t, Process> seen_;
  std::optional<std::set<pid_t>> parents_;
  std::set<pid_t> seen_parents_;  // processes that have a child in /proc
  std::vector<std::string> more_files_;
  uint64_t file_pages_left_ = kMostPages;
  size_t text_bytes_ = 0;
  bool hidden_ = false;
  bool cut_ = false;
};

}  // namespace htmtrace

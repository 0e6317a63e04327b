// SPDX-License-Identifier: GPL-2.0-or-later
// Which files and processes the pages of a partition belonged to, as the recorder saw it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/address.h"

namespace htmtrace {

class PageOwners {
 public:
  // Pages that follow one another.
  struct Run {
    uint64_t la = 0;
    uint64_t size_bytes = 0;
    uint64_t ea = 0;     // where the process had them; of no process: the offset in the file
    uint64_t reach = 0;  // finish() sets it: the highest end up to here
    uint32_t process = kNone;
    uint32_t file = kNone;  // number of its name
  };
  static constexpr uint32_t kNone = ~uint32_t{0};

  // Number of a file's name, without folders.
  uint32_t file_number(const std::string& name);
  // kNone: no process was seen to map it.
  uint32_t number_of(const std::string& name) const;

  // Returns the number of the process.
  uint32_t add_process() {
    processes_.emplace_back();
    return static_cast<uint32_t>(processes_.size() - 1);
  }
  // The process has mapped this file.
  void add_mapping(uint32_t process, uint32_t file);
  void add(const Run& run) { runs_.push_back(run); }
  // All pages of the file that were in memory are among the runs.
  void set_listed(uint32_t file) { listed_.push_back(file); }

  // After the last add().
  void finish();

  bool empty() const { return runs_.empty(); }
  bool is_listed(uint32_t file) const {
    return std::find(listed_.begin(), listed_.end(), file) != listed_.end();
  }
  bool has_mapped(uint32_t process, uint32_t file) const {
    const std::vector<uint32_t>& of = processes_[process];
    return std::find(of.begin(), of.end(), file) != of.end();
  }

  // Whether some process has mapped both.
  bool share_process(uint32_t a, uint32_t b) const;

  // Calls visit(run) for runs that hold `address`, until it returns true: a page may be in several
  // processes. Looks at a bounded number of runs.
  template <class Visit>
  void visit(LogicalAddr address, const Visit& visit) const {
    auto run = std::upper_bound(runs_.begin(), runs_.end(), address.value,
                                [](uint64_t value, const Run& r) { return value < r.la; });
    for (size_t left = kMostLooks; left != 0 && run != runs_.begin(); left--) {
      --run;
      if (run->reach <= address.value) return;
      if (address.value - run->la < run->size_bytes && visit(*run)) return;
    }
  }

 private:
  static constexpr size_t kMostLooks = 256;

  std::unordered_map<std::string, uint32_t> numbers_;  // of files
  std::vector<std::vector<uint32_t>> processes_;       // files of each
  std::vector<uint32_t> listed_;
  std::vector<Run> runs_;
};

}  // namespace htmtrace

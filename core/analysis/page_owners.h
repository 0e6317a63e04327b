// SPDX-License-Identifier: GPL-2.0-or-later
// The files and processes that owned the pages of a partition when the recorder saw them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/address.h"
#include "core/memory_map/process.h"

namespace htmtrace {

class PageOwners {
 public:
  // A run of consecutive pages.
  struct Run {
    uint64_t la = 0;
    uint64_t size_bytes = 0;
    uint64_t ea = 0;     // address in the process; without a process, the offset in the file
    uint64_t reach = 0;  // the highest end of all runs up to this one; set by finish()
    uint32_t process = kNone;
    uint32_t file = kNone;  // number of the file
    bool own = false;       // anonymous memory that only this process has mapped
  };
  static constexpr uint32_t kNone = ~uint32_t{0};

  // The memory of a file, without the characters of its name, and of a process that has mapped it.
  static constexpr uint64_t kFileBytes = 160;
  // The memory of a process, without the characters of its name.
  static constexpr uint64_t kProcessBytes = 256;

  // The number of the file. Files that replaced one another have one path, and differ in the inode.
  uint32_t file_number(const std::string& path, uint64_t inode);
  // Returns kNone if no recorded process had mapped the file. Inode 0: the only file of the path.
  uint32_t number_of(const std::string& path, uint64_t inode) const;
  // The number of the only file with this name, whatever its folder is. Returns kNone if there is
  // no such file, or several.
  uint32_t number_of_name(const std::string& name) const;

  // The numbers of all files, by path and inode.
  using Files = std::map<std::pair<std::string, uint64_t>, uint32_t>;
  const Files& files() const { return numbers_; }

  // Returns the number of the process.
  uint32_t add_process(Process process = {}) {
    processes_.push_back({.process = std::move(process), .files = {}});
    return static_cast<uint32_t>(processes_.size() - 1);
  }
  // Marks the process as provable: its address space is not a copy and was never copied, and the
  // kernel chose the address of its stack at random. user() returns a process only if it is
  // provable and set_stack_end() was called.
  void set_provable(uint32_t process) {
    processes_[process].provable = true;
    has_provable_ = true;
  }
  void set_stack_end(uint32_t process, uint64_t stack_end) {
    processes_[process].stack_end = stack_end;
  }
  // Records that the process has mapped this file.
  void add_mapping(uint32_t process, uint32_t file);
  void reserve_runs(size_t count) { runs_.reserve(runs_.size() + count); }
  void add(const Run& run) { runs_.push_back(run); }
  // States that the runs include all pages of the file in memory.
  void set_listed(uint32_t file) { listed_.push_back(file); }

  // Call finish() after the last add() and before the queries below.
  void finish();

  bool empty() const { return runs_.empty(); }
  bool is_listed(uint32_t file) const {
    return std::binary_search(listed_.begin(), listed_.end(), file);
  }
  bool has_mapped(uint32_t process, uint32_t file) const {
    const std::vector<uint32_t>& of = processes_[process].files;
    return std::binary_search(of.begin(), of.end(), file);
  }

  // Returns for each file whether some process has mapped both this file and one of `files`.
  std::vector<bool> near(const std::vector<uint32_t>& files) const;

  // True if user() can return a process.
  bool has_provable() const { return has_provable_; }
  // Returns the processes that are provable, or if `provable` is false, all others.
  std::vector<const Process*> processes(bool provable) const;
  // Returns the process whose user code accesses this page at this address, or null if the owners
  // do not prove a process. The page must be the process's own page, and the kernel must have
  // chosen its address at random. Another process has had the page at this address only by chance.
  // An address that a program chooses proves nothing: another process with the same program may
  // have had the page at this address. Returns Process::unknown() if only processes that are not
  // provable own the page.
  const Process* user(EffectiveAddr ea, LogicalAddr la) const;

  // Calls visit(run) for runs that hold `address`, until it returns true: several processes may
  // share a page. Looks at a bounded number of runs. Returns false if more runs may hold `address`.
  template <class Visit>
  bool visit(LogicalAddr address, const Visit& visit) const {
    auto run = std::upper_bound(runs_.begin(), runs_.end(), address.value,
                                [](uint64_t value, const Run& r) { return value < r.la; });
    for (size_t left = kMostLooks; run != runs_.begin(); left--) {
      if (left == 0) return false;
      --run;
      if (run->reach <= address.value) break;
      if (address.value - run->la < run->size_bytes && visit(*run)) break;
    }
    return true;
  }

 private:
  static constexpr size_t kMostLooks = 256;
  // Linux chooses addresses downward from the stack: arch/powerpc/mm/mmap.c, mmap_base(). The stack
  // begins up to 1 GiB below the end of the address space (STACK_RND_MASK in
  // arch/powerpc/include/asm/elf.h). The first mapping is 1 to 2 GiB below the stack. The rest of
  // these 4 GiB is for more mappings. Addresses far from the stack may not be random: programs
  // choose them for executables that are not position-independent, and for the heaps of some
  // language runtimes.
  static constexpr uint64_t kRandomBytes = uint64_t{4} << 30;

  struct Known {
    Process process;
    std::vector<uint32_t> files;  // sorted
    uint64_t stack_end = 0;       // 0: unknown
    bool provable = false;

    // The last condition excludes 32-bit processes: their addresses are all near the stack, also
    // those that are not random.
    bool is_random_at(uint64_t ea) const {
      return ea < stack_end && stack_end - ea <= kRandomBytes && stack_end > kRandomBytes;
    }
  };

  Files numbers_;
  std::vector<Known> processes_;
  bool has_provable_ = false;
  std::vector<uint32_t> listed_;  // sorted
  std::vector<Run> runs_;
};

}  // namespace htmtrace

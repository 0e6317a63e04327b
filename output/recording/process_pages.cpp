// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/recording/process_pages.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <set>
#include <span>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "output/symbols/proc_text.h"

namespace htmtrace {
namespace {

namespace fs = std::filesystem;

// Documentation/admin-guide/mm/pagemap.rst: each page has 64 bits. Bit 63 marks a page in memory.
// Bits 0 to 54 hold its frame number, or 0 if the kernel hides this number.
// Bit 61 marks a page of a file, or of anonymous memory that processes share. Bit 56 marks a page
// that is mapped only once. It is clear for the zero page, pages after a fork, and pages that KSM
// merged.
constexpr uint64_t kPresent = uint64_t{1} << 63;
constexpr uint64_t kShareable = uint64_t{1} << 61;
constexpr uint64_t kExclusive = uint64_t{1} << 56;
constexpr uint64_t kFrame = (uint64_t{1} << 55) - 1;

// include/linux/sched.h, PF_FORKNOEXEC and PF_RANDOMIZE: flags of /proc/PID/stat. The task was
// forked, and has not executed a program. The kernel chooses addresses at random.
constexpr uint64_t kForkedOnly = 0x40;
constexpr uint64_t kRandomized = 0x400000;

constexpr size_t kEntriesAtOnce = 8192;

class Descriptor {
 public:
  explicit Descriptor(const fs::path& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// Parses "10000000-10010000 r-xp ...". Returns false for other lines.
bool parse_bounds(std::string_view line, uint64_t& begin, uint64_t& end) {
  const char* const last = line.data() + line.size();
  auto [dash, failure] = std::from_chars(line.data(), last, begin, 16);
  if (failure != std::errc{} || dash == last || *dash != '-') return false;
  auto [space, second] = std::from_chars(dash + 1, last, end, 16);
  return second == std::errc{} && space != last && *space == ' ' && begin < end;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  stream.exceptions(std::ios::badbit);  // out of memory
  return {std::istream_iterator<std::string>(stream), {}};
}

// uapi/asm-generic/mman-common.h, since Linux 5.14. Older headers lack this constant.
#ifndef MADV_POPULATE_READ
constexpr int MADV_POPULATE_READ = 22;
#endif

}  // namespace

// Returns each process with its start time.
std::map<pid_t, std::string> ProcessPages::descendants() {
  std::map<pid_t, std::pair<pid_t, std::string>> all;  // parent, start
  std::error_code failure;
  for (fs::directory_iterator entry(proc_, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    const std::string name = entry->path().filename().string();
    pid_t pid = 0;
    const auto [stop, bad] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (bad != std::errc{} || stop != name.data() + name.size()) continue;
    const std::string stat = proc_text(entry->path() / "stat");
    pid_t parent = 0;
    const std::string field = stat_field(stat, kStatParent);
    std::from_chars(field.data(), field.data() + field.size(), parent);
    all[pid] = {parent, stat_field(stat, kStatStart)};
  }
  std::map<pid_t, std::string> ours;
  const auto root = all.find(root_);
  if (root != all.end()) ours[root_] = root->second.second;
  // Children may have lower numbers than their parents, so repeat until a pass finds no new
  // process.
  for (size_t before = 0; before != ours.size();) {
    before = ours.size();
    for (const auto& [pid, facts] : all) {
      if (!ours.contains(facts.first)) continue;
      ours[pid] = facts.second;
      seen_parents_.insert(facts.first);
    }
  }
  return ours;
}

// Calls put(ea, la, bytes, own) for each run of pages that have consecutive effective addresses,
// consecutive logical addresses and the same value of `own`.
template <class Put>
bool ProcessPages::add_runs(int pagemap, uint64_t begin, uint64_t end, const Put& put) {
  std::vector<uint64_t> entries(kEntriesAtOnce);
  uint64_t run_ea = 0, run_la = 0, run_bytes = 0;
  bool run_own = false;
  const auto flush = [&] {
    if (run_bytes != 0) put(run_ea, run_la, run_bytes, run_own);
    run_bytes = 0;
  };
  for (uint64_t at = begin; at < end;) {
    const uint64_t wanted = std::min<uint64_t>((end - at) / page_bytes_, kEntriesAtOnce);
    const ssize_t got = ::pread(pagemap, entries.data(), wanted * sizeof(uint64_t),
                                static_cast<off_t>(at / page_bytes_ * sizeof(uint64_t)));
    if (got < static_cast<ssize_t>(sizeof(uint64_t))) return false;
    const auto count = static_cast<size_t>(got) / sizeof(uint64_t);
    for (size_t i = 0; i < count; i++, at += page_bytes_) {
      if ((entries[i] & kPresent) == 0) continue;
      const uint64_t la = (entries[i] & kFrame) * page_bytes_;
      if (la == 0) {
        hidden_ = true;
        continue;
      }
      const bool own = (entries[i] & (kShareable | kExclusive)) == kExclusive;
      if (run_bytes == 0 || run_ea + run_bytes != at || run_la + run_bytes != la ||
          run_own != own) {
        flush();
        run_ea = at;
        run_la = la;
        run_own = own;
      }
      run_bytes += page_bytes_;
    }
  }
  flush();
  return true;
}

bool ProcessPages::add_mapping(int pagemap, uint64_t begin, uint64_t end, std::string& text) {
  return add_runs(pagemap, begin, end, [&](uint64_t ea, uint64_t la, uint64_t bytes, bool own) {
    fmt::format_to(std::back_inserter(text), " {:x} {:x} {:x}{}\n", ea, la, bytes,
                   own ? " own" : "");
  });
}

// The lines have offsets in the file instead of effective addresses.
bool ProcessPages::add_file_mapping(int pagemap, uint64_t begin, uint64_t end, uint64_t offset,
                                    std::string& text) {
  return add_runs(pagemap, begin, end, [&](uint64_t ea, uint64_t la, uint64_t bytes, bool) {
    fmt::format_to(std::back_inserter(text), " {:x} {:x} {:x}\n", ea - begin + offset, la, bytes);
  });
}

// Returns nothing if the process has ended or access is denied.
std::optional<std::string> ProcessPages::pages_of(pid_t pid, uint64_t& left) {
  const fs::path folder = proc_ / std::to_string(pid);
  const std::string maps = proc_text(folder / "maps");
  const Descriptor pagemap(folder / "pagemap");
  if (maps.empty() || pagemap.get() < 0) return std::nullopt;
  std::string text;
  for (size_t begin = 0, end; (end = maps.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    const std::string_view line = std::string_view(maps).substr(begin, end - begin);
    uint64_t first = 0, last = 0;
    if (!parse_bounds(line, first, last)) continue;
    const uint64_t pages = (last - first) / page_bytes_;
    if (pages > left) {
      cut_ = true;
      continue;
    }
    left -= pages;
    text += line;
    text += '\n';
    // Some mappings belong to the kernel and have no visible pages.
    add_mapping(pagemap.get(), first, last, text);
  }
  return text;
}

void ProcessPages::look(std::chrono::milliseconds since) {
  uint64_t left = kMostPages;
  for (const auto& [pid, start] : descendants()) {
    // Read the flags before the pages: if the process executes a program after that, its earlier
    // pages must not get the flags of this program.
    const std::string flags =
        stat_field(proc_text(proc_ / std::to_string(pid) / "stat"), kStatFlags);
    auto text = pages_of(pid, left);
    // A process that ends loses its memory earlier than its number. A process that was just forked,
    // or is about to execute another program, has no useful pages. In both cases, the earlier pages
    // are kept.
    if (!text || text->find("\n ") == std::string::npos) continue;
    Process& process = seen_[pid];
    text_bytes_ -= process.bytes();
    process.start = start;
    process.head = fmt::format("# pid {} {} {} {}\n", pid, start, since.count(),
                               one_line(proc_text(proc_ / std::to_string(pid) / "comm")));
    process.text = std::move(*text);
    process.has_new_addresses =
        (std::strtoull(flags.c_str(), nullptr, 10) & (kForkedOnly | kRandomized)) == kRandomized;
    if (text_bytes_ + process.bytes() > kMostTextBytes) {
      cut_ = true;
      seen_.erase(pid);
      continue;
    }
    text_bytes_ += process.bytes();
  }
}

// Files stay in memory longer than the processes that ran them, and all processes that map a file
// share its pages. Pages outside memory stay unread, because no instruction ran there.
bool ProcessPages::add_file_pages(const std::string& mapping, int own_pagemap, std::string& text) {
  uint64_t first = 0, last = 0;
  if (!parse_bounds(mapping, first, last)) return false;
  const size_t slash = mapping.find(" /");
  const std::vector<std::string> fields = words_of(mapping.substr(0, slash));
  // "BEGIN-END PERMISSIONS OFFSET DEVICE INODE"
  if (slash == std::string::npos || fields.size() != 5) return false;
  const std::string path = mapping.substr(slash + 1);
  const uint64_t offset = std::strtoull(fields[2].c_str(), nullptr, 16);
  const uint64_t inode = std::strtoull(fields[4].c_str(), nullptr, 10);
  struct stat facts {};
  // The open of a device can have effects.
  if (own_pagemap < 0 || ::stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return false;
  const Descriptor file(path);
  if (file.get() < 0 || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode) ||
      facts.st_ino != inode) {
    return false;
  }
  // A workload can map far more than the file has. Its pages end with the file.
  const auto size = static_cast<uint64_t>(facts.st_size);
  if (offset >= size) return false;
  const uint64_t pages = (std::min(last - first, size - offset) + page_bytes_ - 1) / page_bytes_;
  if (pages > file_pages_left_) {
    cut_ = true;
    return false;
  }
  file_pages_left_ -= pages;
  const size_t bytes = pages * page_bytes_;
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.get(), static_cast<off_t>(offset));
  if (memory == MAP_FAILED) return false;
  const auto begin = reinterpret_cast<uint64_t>(memory);
  std::vector<unsigned char> resident(bytes / page_bytes_);
  bool done = ::mincore(memory, bytes, resident.data()) == 0;
  for (size_t i = 0; done && i < resident.size();) {
    size_t end = i;
    while (end < resident.size() && (resident[end] & 1) != 0) end++;
    // Unlike a read, madvise does not end this process if the file has just become shorter.
    if (end != i && ::madvise(static_cast<char*>(memory) + i * page_bytes_, (end - i) * page_bytes_,
                              MADV_POPULATE_READ) != 0) {
      done = false;
    }
    i = std::max(end, i + 1);
  }
  std::string runs;
  const bool was_hidden = std::exchange(hidden_, false);
  done = done && add_file_mapping(own_pagemap, begin, begin + bytes, offset, runs);
  done = done && !hidden_ && !runs.empty();
  hidden_ = hidden_ || was_hidden;
  ::munmap(memory, bytes);
  if (!done) return false;
  text += fmt::format("{:x}-{:x} {} {} {} {} {}\n", offset, offset + bytes, fields[1], fields[2],
                      fields[3], fields[4], path);
  text += runs;
  return true;
}

std::string ProcessPages::pages_of_files(int own_pagemap) {
  std::set<std::string> done;
  std::string text;
  const auto add = [&](const std::string& line) {
    // Processes map one file at different addresses.
    if (done.insert(line.substr(line.find(' '))).second) add_file_pages(line, own_pagemap, text);
  };
  for (const auto& [pid, process] : seen_) {
    for (size_t begin = 0, end; (end = process.text.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      const std::string line = process.text.substr(begin, end - begin);
      const size_t slash = line.find(" /");
      const size_t mode = line.find(' ');
      if (line.front() == '#' || line.front() == ' ' || slash == std::string::npos ||
          line.substr(mode + 1, 4).find('x') == std::string::npos) {
        continue;
      }
      add(line);
    }
  }
  for (const std::string& line : more_files_) add(line);
  return text.empty() ? text : "# pid 0 0 0 [files]\n" + text;
}

// True if no other process can have stored to the process's own pages at these addresses while the
// trace ran. A fork copies the address space, and both processes share each page. The process that
// stores to the page first gets a copy, and the other process keeps the page. A page can therefore
// go from one process to the other at the same address, and back after the next fork.
bool ProcessPages::is_only_owner(pid_t pid, const Process& process) const {
  return process.has_new_addresses && parents_ && !parents_->contains(pid) &&
         !seen_parents_.contains(pid);
}

bool ProcessPages::write(int own_pagemap, TraceSink& sink) {
  const std::string files = pages_of_files(own_pagemap);
  if (seen_.empty() && files.empty()) return false;
  const std::string title =
      fmt::format("# pages of {} bytes of the workload's processes\n", page_bytes_);
  sink.append(std::as_bytes(std::span(title)));
  for (const auto& [pid, process] : std::exchange(seen_, {})) {
    const std::string head = process.head + (is_only_owner(pid, process) ? "# only owner\n" : "");
    sink.append(std::as_bytes(std::span(head)));
    sink.append(std::as_bytes(std::span(process.text)));
  }
  sink.append(std::as_bytes(std::span(files)));
  return true;
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/record/workload_share.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <sstream>
#include <system_error>
#include <utility>

#include "core/core_trace/decoder.h"
#include "core/memory_map/translation.h"
#include "output/io/input_file.h"
#include "output/symbols/proc_text.h"

namespace htmtrace {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostMapBytes = 1 << 30;
// Documentation/admin-guide/mm/pagemap.rst: 64 bits for each page. Bit 63: the page is in memory.
// Bits 0 to 54: its frame number, or 0 if the kernel hides the number.
constexpr uint64_t kPresent = uint64_t{1} << 63;
constexpr uint64_t kFrame = (uint64_t{1} << 55) - 1;

// Returns whether all pages of a new mapping were in memory already. Any other page may have had
// another address while the workload ran.
bool are_cached(void* at, uint64_t bytes, uint64_t page_bytes) {
  std::vector<unsigned char> resident((bytes + page_bytes - 1) / page_bytes);
  return ::mincore(at, bytes, resident.data()) == 0 &&
         std::ranges::all_of(resident, [](unsigned char page) { return (page & 1) != 0; });
}

// Maps the executed part as the workload did: an unwritten private mapping has the pages of the
// page cache. Clears found.all if a page is missing. Returns false when the kernel hides the pages'
// addresses.
bool add_pages(const ExecutedFile& file, int pagemap, ProgramPages& found) {
  const Fd fd(::open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat facts {};
  const bool is_all = std::exchange(found.all, false);
  if (!fd || ::fstat(fd.get(), &facts) != 0) return true;
  const auto size = static_cast<uint64_t>(facts.st_size);
  // The name may now belong to another file. The device is not compared, because fstat(2) and the
  // mapping show different devices on some file systems.
  if (!S_ISREG(facts.st_mode) || facts.st_ino != file.id.inode || file.offset >= size) return true;
  const uint64_t bytes = std::min(file.bytes, size - file.offset);
  void* const at =
      ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd.get(), static_cast<off_t>(file.offset));
  if (at == MAP_FAILED) return true;
  const bool cached = are_cached(at, bytes, found.page_bytes);
  // Unlike reads of the pages, this raises no SIGBUS if the file has just been truncated.
  ::madvise(at, bytes, MADV_POPULATE_READ);
  std::vector<uint64_t> entries((bytes + found.page_bytes - 1) / found.page_bytes);
  const auto first = reinterpret_cast<uintptr_t>(at) / found.page_bytes * sizeof(uint64_t);
  const ssize_t got = ::pread(pagemap, entries.data(), entries.size() * sizeof(uint64_t),
                              static_cast<off_t>(first));
  ::munmap(at, bytes);
  if (got < 0) return false;
  const size_t pages = entries.size();
  entries.resize(static_cast<size_t>(got) / sizeof(uint64_t));
  bool present = cached && entries.size() == pages;
  for (const uint64_t entry : entries) {
    if ((entry & kPresent) == 0) {
      present = false;
      continue;
    }
    if ((entry & kFrame) == 0) return false;
    found.pages.push_back((entry & kFrame) * found.page_bytes);
  }
  found.all = is_all && present;
  return true;
}

class ShareSink {
 public:
  ShareSink(const ProgramPages& pages, WorkloadShare& share) : pages_(pages), share_(share) {}

  void instruction(const Instruction& instruction) {
    share_.instructions++;
    if (!instruction.has_la) {
      share_.untranslated++;
      return;
    }
    const uint64_t page = instruction.la.value & ~(pages_.page_bytes - 1);
    if (page != page_) [[unlikely]]
      look_up(page);
    share_.own += own_ ? 1 : 0;
  }
  void stamp(const Stamp&) {}
  void defect(const Defect&) {}

 private:
  void look_up(uint64_t page) {
    page_ = page;
    own_ = std::ranges::binary_search(pages_.pages, page);
  }

  const ProgramPages& pages_;
  WorkloadShare& share_;
  uint64_t page_ = ~uint64_t{0};
  bool own_ = false;
};

}  // namespace

std::set<FileId> executed_files(const fs::path& proc) {
  std::set<FileId> files;
  std::error_code failure;
  for (fs::directory_iterator entry(proc, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    const std::string name = entry->path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::istringstream maps(proc_text(entry->path() / "maps"));
    maps.exceptions(std::ios::badbit);  // out of memory
    for (std::string line; std::getline(maps, line);) {
      std::istringstream fields(line);
      std::string range, access, offset;
      FileId file;
      char colon = 0;
      // proc_pid_maps(5): the device is MAJOR:MINOR, hexadecimal.
      if (fields >> range >> access >> offset >> std::hex >> file.device_major >> colon >>
              file.device_minor >> std::dec >> file.inode &&
          file.inode != 0 && access.find('x') != std::string::npos) {
        files.insert(file);
      }
    }
  }
  return files;
}

Fd open_own_pagemap() {
  return Fd(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
}

ProgramPages find_program_pages(const std::set<ExecutedFile>& files,
                                const std::set<FileId>& shared_files, const Fd& pagemap) {
  ProgramPages found;
  found.page_bytes = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  bool any = false, hidden = !pagemap;
  for (const ExecutedFile& file : files) {
    if (shared_files.contains(file.id)) continue;
    any = true;
    if (!hidden && !add_pages(file, pagemap.get(), found)) hidden = true;
  }
  std::ranges::sort(found.pages);
  found.pages.erase(std::unique(found.pages.begin(), found.pages.end()), found.pages.end());
  if (hidden) {
    found.pages.clear();
    found.trouble = "the kernel hides physical addresses from this process; run htmtrace as root";
  } else if (files.empty()) {
    found.trouble = "htmtrace saw no program file of it";
  } else if (!any) {
    found.trouble = "other processes run the same program files";
  } else if (found.pages.empty()) {
    found.trouble = "its program files are gone";
  }
  return found;
}

void add_share(const fs::path& trace, const fs::path& translation,
               std::optional<uint32_t> partition, const ProgramPages& pages,
               std::chrono::steady_clock::time_point until, WorkloadShare& share) {
  const TranslationMap map(InputFile::open(translation).read_all(kMostMapBytes), partition);
  InputFile input = InputFile::open_unpacked(trace);
  ShareSink sink(pages, share);
  CoreDecoder decoder(map, sink);
  const std::unique_ptr<std::byte[]> memory(new std::byte[InputFile::kPieceBytes]);
  const std::span<std::byte> piece(memory.get(), InputFile::kPieceBytes);
  while (const size_t got = input.read(piece)) {
    if (std::chrono::steady_clock::now() >= until) {
      share.all = false;
      return;
    }
    decoder.feed(piece.first(got));
  }
  decoder.finish();
  share.damaged |= decoder.statistics().incomplete() || !input.trouble().empty();
}

}  // namespace htmtrace

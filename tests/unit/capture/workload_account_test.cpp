// SPDX-License-Identifier: GPL-2.0-or-later
// Tests on which CPUs a workload ran, and which files it executed.
#include "cli/record/workload_account.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "cli/capture/workload.h"
#include "cli/record/workload_share.h"
#include "cli/record/workload_watch.h"
#include "core/base/fd.h"
#include "tests/encoder/power10.h"
#include "tests/generator/generated_trace.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {

TEST_CASE("the executed files of all processes are found, and no other files") {
  const TemporaryFolder proc;
  proc.write("12/maps",
             "10000000-10010000 r-xp 00000000 fe:01 77   /bin/sh\n"
             "10010000-10020000 rw-p 00010000 fe:01 78   /bin/data\n"
             "20000000-20010000 r-xp 00000000 00:00 0    [vdso]\n");
  proc.write("13/maps", "not a map\n10000000-10010000 r-xp 00000000 fe:01 79 /lib/a b\n");
  proc.write("self/maps", "10000000-10010000 r-xp 00000000 fe:01 80 /bin/other\n");
  // Another file, although it has the same inode.
  proc.write("14/maps", "10000000-10010000 r-xp 00000000 fe:1a 77 /mnt/tool\n");
  CHECK(executed_files(proc.path()) ==
        std::set<FileId>{{0xfe, 1, 77}, {0xfe, 1, 79}, {0xfe, 0x1a, 77}});
}

TEST_CASE("a running workload is seen on its CPU with its program, also in its children") {
  cpu_set_t allowed;
  REQUIRE(::sched_getaffinity(0, sizeof(allowed), &allowed) == 0);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &allowed)) cpu++;
  const TemporaryFolder folder;
  const std::filesystem::path program = folder.path() / "program";
  std::filesystem::copy_file("/bin/true", program);

  const Signals signals;
  Workload workload({"sh", "-c", program.string() + "; " + program.string()}, signals);
  WorkloadWatch watch(workload.pid());
  if (!watch.trouble().empty()) {
    MESSAGE("not tested: ", watch.trouble());
    return;
  }
  workload.bind({cpu});
  workload.start();
  workload.wait_end();
  watch.look();
  CHECK_FALSE(watch.lost());
  const auto times = watch.times();
  REQUIRE(times.size() == 1);
  CHECK(times[0].cpu == cpu);
  CHECK(times[0].ns > 0);
  struct stat facts {};
  REQUIRE(::stat(program.c_str(), &facts) == 0);
  CHECK(std::ranges::any_of(watch.files(), [&](const ExecutedFile& file) {
    return file.path == program.string() && file.id.inode == facts.st_ino;
  }));
  CHECK_FALSE(watch.cut());
  CHECK(std::ranges::any_of(watch.mappings(), [&](const CodeMapping& mapping) {
    return mapping.path == program.string() && mapping.inode == facts.st_ino &&
           mapping.permissions == "r-xp" && mapping.address % 4096 == 0 && mapping.bytes != 0 &&
           mapping.address != 0;
  }));
  const std::set<FileId> mapped = executed_files("/proc");
  const Fd pagemap = open_own_pagemap();
  // Records and maps identify the same file in the same way: every process has a libc.
  CHECK(std::ranges::any_of(watch.files(),
                            [&](const ExecutedFile& file) { return mapped.contains(file.id); }));
  // The kernel shows pages only to privileged processes, but shows their owner to all processes.
  const ProgramPages none = find_program_pages(watch.files(), mapped, pagemap);
  const ProgramPages all = find_program_pages(watch.files(), {}, pagemap);
  CHECK((all.trouble.empty() != all.pages.empty()));
  CHECK(none.pages.size() <= all.pages.size());
  CHECK(std::ranges::is_sorted(all.pages));
}

// The page cache needs no privilege to map, but the kernel shows the pages to root only.
TEST_CASE("program files that are gone, replaced or shorter are missed") {
  const TemporaryFolder folder;
  const Fd pagemap = open_own_pagemap();
  const auto file = [&](const char* name) {
    folder.write(name, std::string(70000, 'x'));
    struct stat facts {};
    REQUIRE(::stat((folder.path() / name).c_str(), &facts) == 0);
    return ExecutedFile{.path = (folder.path() / name).string(),
                        .id = {8, 1, facts.st_ino},
                        .offset = 0,
                        .bytes = 70000};
  };
  const ExecutedFile whole = file("whole"), gone = file("gone"), replaced = file("replaced");
  const ProgramPages visible = find_program_pages({whole}, {}, pagemap);
  if (!visible.trouble.empty()) {
    MESSAGE("not tested: ", visible.trouble);
    return;
  }
  CHECK(visible.all);
  std::filesystem::remove(gone.path);
  CHECK_FALSE(find_program_pages({whole, gone}, {}, pagemap).all);
  CHECK_FALSE(find_program_pages({gone, whole}, {}, pagemap).all);
  CHECK(find_program_pages({whole, gone}, {gone.id}, pagemap).all);
  std::filesystem::rename(whole.path, replaced.path);
  CHECK_FALSE(find_program_pages({replaced}, {}, pagemap).all);
  // A page that left memory comes back at another physical address.
  const ExecutedFile dropped = file("dropped");
  const Fd fd(::open(dropped.path.c_str(), O_RDONLY | O_CLOEXEC));
  REQUIRE(::fsync(fd.get()) == 0);
  REQUIRE(::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED) == 0);
  unsigned char resident = 1;
  void* const at = ::mmap(nullptr, 1, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  REQUIRE(at != MAP_FAILED);
  REQUIRE(::mincore(at, 1, &resident) == 0);
  ::munmap(at, 1);
  if (resident == 0) CHECK_FALSE(find_program_pages({dropped}, {}, pagemap).all);
  ExecutedFile beyond = file("beyond");
  beyond.offset = 1 << 20;
  CHECK_FALSE(find_program_pages({beyond}, {}, pagemap).all);
}

TEST_CASE("records that the kernel dropped at the end are noticed") {
  const Signals signals;
  Workload workload({"sh", "-c", "i=0; while [ $i -lt 400 ]; do /bin/true; i=$((i + 1)); done"},
                    signals);
  WorkloadWatch watch(workload.pid());
  if (!watch.trouble().empty()) {
    MESSAGE("not tested: ", watch.trouble());
    return;
  }
  workload.start();
  workload.wait_end();
  watch.look();
  CHECK_FALSE(watch.times().empty());
  CHECK(watch.lost());
}

TEST_CASE("the share of a workload counts only the instructions in its pages") {
  // Three lines of code, of which the second is the workload's: 2, 3 and 4 instructions.
  std::vector<uint64_t> words;
  const uint64_t lines[] = {0x20000000, 0x20005000, 0x20009000};
  for (unsigned i = 0; i < 3; i++) {
    uint64_t line[kPower10IearaWords];
    power10_ieara(line, 0x10000000, lines[i]);
    words.insert(words.end(), std::begin(line), std::end(line));
    for (uint64_t k = 0; k < i + 2; k++) {
      words.push_back(power10_info(0x60000000, k * 4, false, false, kPower10NoOperand));
      words.push_back(power10_msr(0x8000000000009033));
    }
  }
  // Block of one entry: real 0x20000000 is logical 0x5000000, of partition 3.
  const std::vector<uint64_t> map = {0,       0, 1, 0, 0x20000000, 0x5000000, uint64_t{3} << 32,
                                     0x100000};
  const TemporaryFolder folder;
  const auto put = [&](const char* name, const std::vector<uint64_t>& content) {
    const auto bytes = generator::bytes_of(content);
    folder.write(name, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    return folder.path() / name;
  };
  const auto trace = put("trace", words), translation = put("map", map);
  const ProgramPages pages{.pages = {0x5005000}, .page_bytes = 4096, .trouble = {}};
  const auto now = std::chrono::steady_clock::now();

  WorkloadShare share;
  add_share(trace, translation, 3, pages, now + std::chrono::hours(1), share);
  CHECK(share.own == 3);
  CHECK(share.instructions == 9);
  CHECK(share.untranslated == 0);
  CHECK(share.all);

  WorkloadShare other;  // partition
  add_share(trace, translation, 4, pages, now + std::chrono::hours(1), other);
  CHECK(other.own == 0);
  CHECK(other.untranslated == 9);

  CHECK_FALSE(share.damaged);
  WorkloadShare damaged;
  std::vector<uint64_t> with_defect = words;
  with_defect.insert(with_defect.begin() + 12, {~uint64_t{0}, ~uint64_t{0}});
  add_share(put("damaged", with_defect), translation, 3, pages, now + std::chrono::hours(1),
            damaged);
  CHECK(damaged.damaged);

  WorkloadShare late;
  add_share(trace, translation, 3, pages, now, late);
  CHECK_FALSE(late.all);
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
// Saves the location of a workload's memory from /proc, and reads it to name addresses.
#include "output/symbols/page_names.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "output/recording/process_pages.h"
#include "tests/damage/time_limit.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {
namespace {

constexpr uint64_t kInMemory = uint64_t{1} << 63;
constexpr uint64_t kOwn = kInMemory | uint64_t{1} << 56;
constexpr uint64_t kOfFile = kInMemory | uint64_t{1} << 61;

std::string pagemap_of(const std::vector<uint64_t>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(uint64_t)};
}

// A /proc with pages of 4 KiB. Process 20 is the workload, 21 its child, and 30 a foreign process.
void make_proc(const TemporaryFolder& proc) {
  proc.write("20/stat", "20 (prog) S 1 20 20 0 -1 4194308 0 0 0 0 0 0 0 0 20 0 1 0 700 1 2\n");
  proc.write("20/comm", "prog\n");
  proc.write("20/maps",
             "2000-5000 rw-p 00001000 00:01 5 /bin/prog\n"
             "6000-7000 rw-p 00000000 00:00 0 [heap]\n");
  proc.write("20/pagemap", pagemap_of({0, 0, kOfFile | 0x10, kOfFile | 0x11, 0, 0, kOwn | 0x40}));
  proc.write("21/stat", "21 (a) b) S 20 20 20 0 -1 4194308 0 0 0 0 0 0 0 0 20 0 1 0 800 1 2\n");
  proc.write("21/comm", "child\n");
  proc.write("21/maps", "1000-3000 rw-p 00000000 00:00 0 \n");
  proc.write("21/pagemap", pagemap_of({0, kOfFile | 0x11, kOfFile | 0x12}));
  proc.write("30/stat", "30 (other) S 1 30 30 0 -1 4194308 0 0 0 0 0 0 0 0 20 0 1 0 900 1 2\n");
  proc.write("30/maps", "1000-2000 rw-p 00000000 00:00 0 \n");
  proc.write("30/pagemap", pagemap_of({0, kInMemory | 0x50}));
}

std::string pages_file(ProcessPages& pages, const TemporaryFolder& folder) {
  TraceSink sink = TraceSink::create(folder.path() / "saved", Existing::kReplace);
  pages.write(-1, sink);
  sink.finish();
  return folder.read("saved");
}

}  // namespace

TEST_CASE("a mapping that is far larger than its file costs no time") {
  const TemporaryFolder folder;
  folder.write("program", std::string(100, 'x'));
  const std::string path = (folder.path() / "program").string();
  struct stat facts {};
  REQUIRE(::stat(path.c_str(), &facts) == 0);
  const auto page_bytes = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  ProcessPages pages("/proc", 0, page_bytes);
  pages.add_file({.path = path,
                  .inode = facts.st_ino,
                  .address = 0x10000000,
                  .bytes = uint64_t{1} << 42,
                  .offset = 0,
                  .permissions = "r-xp"});
  const Fd pagemap(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  const TimeLimit limit;
  TraceSink sink = TraceSink::create(folder.path() / "saved", Existing::kReplace);
  const bool any = pages.write(pagemap.get(), sink);
  sink.finish();
  if (!any) MESSAGE("not tested: the kernel hides the addresses of pages");
  CHECK((!any ||
         folder.read("saved").find(fmt::format("\n0-{:x} r-xp", page_bytes)) != std::string::npos));
}

TEST_CASE("pages of the workload and its children are saved as runs, and name addresses") {
  const TemporaryFolder proc;
  make_proc(proc);
  ProcessPages pages(proc.path(), 20, 4096);
  pages.look(std::chrono::milliseconds(50));
  CHECK(pages.processes() == 2);
  CHECK_FALSE(pages.hidden());
  CHECK_FALSE(pages.cut());
  const std::string text = pages_file(pages, proc);
  CHECK(text ==
        "# pages of 4096 bytes of the workload's processes\n"
        "# pid 20 700 50 prog\n"
        "2000-5000 rw-p 00001000 00:01 5 /bin/prog\n"
        " 2000 10000 2000\n"
        "6000-7000 rw-p 00000000 00:00 0 [heap]\n"
        " 6000 40000 1000 own\n"
        "# pid 21 800 50 child\n"
        "1000-3000 rw-p 00000000 00:00 0 \n"
        " 1000 11000 2000\n");

  SymbolTable known;
  known.add({0x3000, 0x100, "array"});
  known.add({0xc000000000090000, 0x10, "jiffies"});
  known.finish();
  PageNames names(known);
  CHECK(names.add_file(text) == 0);
  CHECK(names.name({0x11080}) == "prog: array+0x80");  // also for the child, which started later
  CHECK(names.name({0x10010}) == "prog: prog+0x1010");
  CHECK(names.name({0x40020}) == "prog: [heap]+0x20");
  CHECK(names.name({0x12004}) == "child: 2004");
  CHECK(names.name({0x90004}) == "jiffies+0x4");
  CHECK(names.name({0x50000}).empty());
  CHECK(names.processes().at(1).seen_ms == 50);
}

TEST_CASE("the last pages stay after a process has ended or has lost its memory") {
  const TemporaryFolder proc;
  make_proc(proc);
  ProcessPages pages(proc.path(), 20, 4096);
  pages.look(std::chrono::milliseconds(50));
  proc.write("20/pagemap", "");
  std::filesystem::remove_all(proc.path() / "21");
  pages.look(std::chrono::milliseconds(100));
  CHECK(pages.processes() == 2);
  CHECK(pages_file(pages, proc).find("# pid 20 700 50 prog") != std::string::npos);

  ProcessPages gone(proc.path(), 99, 4096);
  gone.look(std::chrono::milliseconds(1));
  CHECK(gone.processes() == 0);
}

TEST_CASE("only a process without copies of its address space is the only owner of its pages") {
  const TemporaryFolder proc;
  // Whether processes 20 and 21 are only owners.
  const auto owners = [&](const std::optional<std::set<pid_t>>& parents,
                          const std::string& flags_of_child = "4194308") {
    make_proc(proc);
    proc.write("21/stat",
               "21 (a) b) S 20 20 20 0 -1 " + flags_of_child + " 0 0 0 0 0 0 0 0 20 0 1 0 800 1\n");
    ProcessPages pages(proc.path(), 20, 4096);
    pages.look(std::chrono::milliseconds(50));
    if (parents) pages.set_parents(*parents);
    const std::string text = pages_file(pages, proc);
    std::string found;
    for (const char* const pid : {"20", "21"}) {
      const size_t at = text.find(std::string("# pid ") + pid);
      const size_t line = text.find('\n', at) + 1;
      found += text.compare(line, 13, "# only owner\n") == 0 ? 'y' : 'n';
    }
    return found;
  };
  using Pids = std::set<pid_t>;
  CHECK(owners(Pids{}) == "ny");             // perf lacks the fork, but /proc shows the child
  CHECK(owners(std::nullopt) == "nn");       // the recorder missed some processes
  CHECK(owners(Pids{20}) == "ny");           // a child has a copy
  CHECK(owners(Pids{}, "4194372") == "nn");  // PF_FORKNOEXEC: the address space is a copy
  CHECK(owners(Pids{}, "4") == "nn");        // no PF_RANDOMIZE
}

TEST_CASE("only pages that are anonymous and mapped once are the process's own") {
  const TemporaryFolder proc;
  const auto is_own = [&](uint64_t entry) {
    make_proc(proc);
    proc.write("20/pagemap", pagemap_of({0, 0, 0, 0, 0, 0, entry}));
    ProcessPages pages(proc.path(), 20, 4096);
    pages.look(std::chrono::milliseconds(50));
    return pages_file(pages, proc).find(" 6000 40000 1000 own\n") != std::string::npos;
  };
  CHECK(is_own(kOwn | 0x40));
  CHECK_FALSE(is_own(kInMemory | 0x40));       // after a fork, merged by KSM, or the zero page
  CHECK_FALSE(is_own(kOwn | kOfFile | 0x40));  // a file, or shared memory
}

TEST_CASE("the owners of pages prove a process only near its stack") {
  const auto proves = [](const std::string& more, const std::string& stack,
                         const std::string& own) {
    SymbolTable known;
    known.finish();
    PageNames names(known);
    CHECK(names.add_file("# pid 20 700 50 prog\n" + more +
                         "7ffe00000000-7ffe00001000 rw-p 00000000 00:00 0 \n"
                         " 7ffe00000000 40000 1000" +
                         own + "\n" + stack + " rw-p 00000000 00:00 0       [stack]\n") == 0);
    const PageOwners owners = names.take_owners();
    const Process* const process = owners.user({0x7ffe00000000}, {0x40000});
    if (process == nullptr || process == &Process::unknown()) return false;
    CHECK(process->name == "prog:20");
    return true;
  };
  CHECK(proves("# only owner\n", "7ffe20000000-7ffe20021000", " own"));
  CHECK_FALSE(proves("", "7ffe20000000-7ffe20021000", " own"));
  CHECK_FALSE(proves("# only owner\n", "7fff20000000-7fff20021000", " own"));
  CHECK_FALSE(proves("# only owner\n", "7ffe20000000-7ffe20021000", ""));
}

TEST_CASE("a mapping that ends before it begins is malformed") {
  SymbolTable known;
  known.finish();
  PageNames names(known);
  CHECK(names.add_file("# pid 20 700 50 prog\n"
                       "2000-1000 r-xp 00000000 00:01 5 /bin/prog\n"
                       "2000-2000 r-xp 00000000 00:01 5 /bin/prog\n"
                       "2000-3000 r-xp 00000000 00:01 5 /bin/prog\n") == 2);
  CHECK(names.processes().at(0).mappings.size() == 1);
}

TEST_CASE("a command is not longer than Linux shows it") {
  SymbolTable known;
  known.finish();
  PageNames names(known);
  CHECK(names.add_file("# pid 20 700 50 " + std::string(5000, '\1') + "\n") == 0);
  const PageOwners owners = names.take_owners();
  const std::vector<const Process*> all = owners.processes(/*provable=*/false);
  REQUIRE(all.size() == 1);
  CHECK(all[0]->command.size() == 4 * 63);
}

TEST_CASE("a command keeps its blanks") {
  SymbolTable known;
  known.finish();
  for (const char* const command : {"  x y ", "", " ", "x"}) {
    PageNames names(known);
    CHECK(names.add_file(std::string("# pid 20 700 50 ") + command + "\n") == 0);
    CHECK(names.processes().at(0).command == command);
  }
}

TEST_CASE("hidden frames are reported, and are not addresses") {
  const TemporaryFolder proc;
  make_proc(proc);
  proc.write("20/pagemap", pagemap_of({0, 0, kInMemory, kInMemory}));
  std::filesystem::remove_all(proc.path() / "21");
  ProcessPages pages(proc.path(), 20, 4096);
  pages.look(std::chrono::milliseconds(50));
  CHECK(pages.hidden());
  CHECK(pages.processes() == 0);
}

TEST_CASE("a mapping larger than the limit is left out and reported") {
  const TemporaryFolder proc;
  make_proc(proc);
  proc.write("20/maps",
             "2000-7fff00000000 rw-p 00000000 00:00 0 \n"
             "6000-7000 rw-p 00000000 00:00 0 [heap]\n");
  ProcessPages pages(proc.path(), 20, 4096);
  pages.look(std::chrono::milliseconds(50));
  CHECK(pages.cut());
  CHECK(pages_file(pages, proc).find(" 6000 40000 1000") != std::string::npos);
}

TEST_CASE("a program's own file names its load addresses, and any text is accepted") {
  SymbolTable known;
  known.finish();
  PageNames names(known);
  CHECK(names.add_file(" 1 2 3\nnonsense\n10-20 r\n# pid x\n# pid 1 2 3 a\n 1000 2000 10\n") == 5);
  CHECK(names.runs() == 0);
  // The last possible byte, a run within another run, and a run that ends where it begins.
  CHECK(names.add_file("1-2 r 0 0 0\n 0 fffffffffffff000 1000\n 0 1000 3000\n 0 2000 1000\n"
                       " 0 3000 2000\n 0 fffffffffffff000 1001\n 0 5000 0\n") == 2);
  CHECK(names.runs() == 3);
  CHECK(names.name({0x4fff}) == "a: 1fff");
  CHECK(names.name({0xffffffffffffffff}) == "a: fff");
  CHECK(names.name({0x5000}).empty());
  names.add_symbols({});
  CHECK(names.name({0x4fff}) == "a: 1fff");
}

}  // namespace htmtrace

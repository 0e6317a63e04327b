// SPDX-License-Identifier: GPL-2.0-or-later
// Samples of programs that are known by construction. The reader of perf.data files reads them.
#include "output/export/perf_samples.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/instruction_run.h"
#include "tests/unit/recording/sampled_core.h"

namespace htmtrace {
namespace {

constexpr uint32_t kCallTheKernel = 0x44000002, kReturnFromIt = 0x4c000024;

std::vector<uint64_t> periods_of(const ReadFile& file) {
  std::vector<uint64_t> periods;
  for (const ReadSample& sample : file.samples) periods.push_back(sample.period);
  return periods;
}

constexpr auto kUserMark = static_cast<uint64_t>(-512), kKernelMark = static_cast<uint64_t>(-128);
constexpr uint32_t kWordOfOne = 0x38600001, kWordOfTwo = 0x38600002;

// Two programs with the same addresses.
SymbolTable symbols_of_two() {
  SymbolTable symbols;
  for (const auto& [name, word] : {std::pair("/bin/one", kWordOfOne), {"/bin/two", kWordOfTwo}}) {
    symbols.begin_program(
        {.file = name + 5,
         .path = name,
         .source = name,
         .is_main = true,
         .begin = kSampledProgram,
         .end = kSampledProgram + 0x10,
         .loads = {{.address = kSampledProgram, .offset = 0, .size_bytes = 0x10}},
         .texts = {{.address = kSampledProgram, .words = {word, word, word, word}}}});
    symbols.add({.address = kSampledProgram, .size_bytes = 0x10, .name = "main"});
  }
  symbols.end_program();
  symbols.finish();
  return symbols;
}

}  // namespace

TEST_CASE("perf samples: each instruction has a sample with its data and its level") {
  SampledCore core({});
  core.run({kNop, kStoreWord, kReserveWord});
  core.at(kSampledKernel, {kNop});
  const ReadFile file = core.read();
  REQUIRE(file.samples.size() == 4);
  CHECK(periods_of(file) == std::vector<uint64_t>{1, 1, 1, 1});
  CHECK(file.samples[1].ip == kSampledProgram + 4);
  CHECK(file.samples[0].address == 0);
  CHECK(file.samples[1].address == 0x7fff0010);
  CHECK((file.samples[0].source & 0x1f) == 1);  // no operation
  CHECK((file.samples[1].source & 0x1f) == 4);  // a store
  CHECK((file.samples[2].source & 0x1f) == 2);  // a load
  CHECK((file.samples[1].source >> 24 & 3) == 1);
  CHECK((file.samples[2].source >> 24 & 3) == 2);  // locked
  CHECK(file.samples[0].mode == 2);
  CHECK(file.samples[3].mode == 1);
  CHECK(file.samples[0].task == ~uint64_t{0});
  CHECK(file.samples[3].task == 0);
  CHECK(file.samples[3].time == 3);
  CHECK(file.header.events[0].config == 1);
  CHECK(file.header.events[0].period == 1);
  CHECK(core.counts().samples == 4);
}

TEST_CASE("perf samples: the periods add up to the instructions") {
  for (const uint64_t period : {1, 2, 3, 7, 100}) {
    SampledCore core({.period = period, .stacks = period % 2 == 1, .branches = 3});
    for (unsigned i = 0; i < 10; i++) core.at(kSampledProgram, {kNop, kNop, jump(8, 0)});
    const ReadFile file = core.read();
    uint64_t sum = 0;
    for (size_t i = 0; i < file.samples.size(); i++) {
      const ReadSample& sample = file.samples[i];
      sum += sample.period;
      CHECK(sample.period == (i + 1 < file.samples.size() ? period : 30 - i * period));
      CHECK(sample.ip == kSampledProgram + (sum - 1) % 3 * 4);
    }
    CHECK(sum == 30);
  }
}

TEST_CASE("perf samples: only selected instructions count") {
  Selection selection;
  selection.ea = {{.first = kSampledProgram + 4, .last = kSampledProgram + 8}};
  SampledCore core({.period = 3, .stacks = true}, selection);
  for (unsigned i = 0; i < 4; i++) core.at(kSampledProgram, {kNop, kNop, kNop, jump(12, 0)});
  core.at(kSampledProgram, {kNop});
  const ReadFile file = core.read();
  CHECK(periods_of(file) == std::vector<uint64_t>{3, 3, 2});
  CHECK(file.samples[2].ip == kSampledProgram + 8);
  // Callers of other code are not those of the last selected instruction.
  CHECK(file.samples[2].chain.size() == 2);
  CHECK(file.samples[2].chain[1] == kSampledProgram + 8);
}

TEST_CASE("perf samples: a sample at each taken branch") {
  SampledCore core({.period = PerfSampling::kBranches, .branches = 8});
  core.run({kNop, 0x40820010});                                           // bne, not taken
  core.run({kNop, jump(kSampledProgram + 12, kSampledProgram + 0x100)});  // 4 instructions
  core.at(kSampledProgram + 0x100, {kNop, kCallTheKernel});               // 2
  core.at(0xc000000000003000, {kNop, kReturnFromIt});                     // 2
  core.at(kSampledProgram + 0x108, {kNop});                               // interrupted: 1
  core.at(0xc000000000004900, {kStoreWord});                              // up to the gap: 1
  core.sink().defect({});
  core.at(kSampledProgram + 0x10c, {kNop, kNop});  // up to the end: 2
  const ReadFile file = core.read();
  CHECK(periods_of(file) == std::vector<uint64_t>{4, 2, 2, 1, 1, 2});
  std::vector<uint64_t> targets;
  for (const ReadSample& sample : file.samples) targets.push_back(sample.address);
  CHECK(targets == std::vector<uint64_t>{kSampledProgram + 0x100, 0xc000000000003000,
                                         kSampledProgram + 0x108, 0xc000000000004900, 0, 0});
  CHECK((file.samples[4].source & 0x1f) == 1);  // the address is not that of an access
  const std::vector<uint64_t>& branches = file.samples[3].branches;
  REQUIRE(branches.size() == 12);
  const auto type = [&](size_t i) { return branches[3 * i + 2] >> 20; };
  CHECK(type(0) == 12);  // an interrupt
  CHECK(type(1) == 11);  // a return from an interrupt
  CHECK(type(2) == 7);   // a system call
  CHECK(type(3) == 2);   // unconditional
  CHECK(branches[9] == kSampledProgram + 12);
  CHECK(branches[10] == kSampledProgram + 0x100);
  CHECK(file.samples[5].branches.empty());  // after the gap
  CHECK(std::ranges::count(file.records, "lost 1") == 1);
}

TEST_CASE("perf samples: the branch stack holds the newest branches") {
  constexpr unsigned kLength = 5;
  SampledCore core({.branches = kLength});
  for (uint64_t i = 0; i < 100; i++) {
    core.at(kSampledProgram + i * 16,
            {jump(kSampledProgram + i * 16, kSampledProgram + i * 16 + 16)});
  }
  const ReadFile file = core.read();
  REQUIRE(file.samples.size() == 100);
  for (uint64_t i = 0; i < 100; i++) {
    const std::vector<uint64_t>& branches = file.samples[i].branches;
    REQUIRE(branches.size() == 3 * std::min<uint64_t>(i, kLength));
    for (uint64_t b = 0; b < branches.size() / 3; b++) {
      CHECK(branches[3 * b] == kSampledProgram + (i - b - 1) * 16);
      CHECK(branches[3 * b + 1] == kSampledProgram + (i - b) * 16);
    }
  }
}

TEST_CASE("perf samples: call chains name calls, and separate the program from the kernel") {
  SymbolTable symbols;
  for (const uint64_t begin : {kSampledProgram, kSampledProgram + 0x100, kSampledProgram + 0x200}) {
    symbols.add({.address = begin, .size_bytes = 0x100, .name = fmt::format("f{:x}", begin)});
  }
  SampledCore core({.stacks = true}, {}, SampledCore::finished(std::move(symbols)));
  core.run({kNop});
  core.call_to(kSampledProgram + 0x100);  // at +4
  core.run({kNop});
  core.call_to(kSampledProgram + 0x200);  // at +0x104
  core.run({kNop, kCallTheKernel});       // at +0x204
  core.at(0xc000000000003000, {kNop});
  core.call_to(kSampledKernel);  // at ...3004
  core.run({kNop});
  const ReadFile file = core.read();
  const auto& first = file.samples.front().chain;
  CHECK(first == std::vector<uint64_t>{kUserMark, kUserMark, kSampledProgram});
  const auto& call = file.samples[4].chain;
  CHECK(call == std::vector<uint64_t>{kUserMark, kUserMark, kSampledProgram + 0x200,
                                      kSampledProgram + 0x104, kSampledProgram + 4});
  const auto& last = file.samples.back().chain;
  CHECK(last == std::vector<uint64_t>{kKernelMark, kSampledKernel, 0xc000000000003004, kUserMark,
                                      kSampledProgram + 0x204, kSampledProgram + 0x104,
                                      kSampledProgram + 4});
}

TEST_CASE("perf samples: an instruction without a word after a gap has no callers") {
  SampledCore core({.stacks = true});
  core.run({kNop});
  core.call_to(kSampledProgram + 0x100);
  core.run({kNop});
  core.sink().defect({});
  Instruction without_word = one(kSampledProgram + 0x200, 0);
  without_word.has_opcode = false;
  core.sink().instruction(without_word);
  const ReadFile file = core.read();
  CHECK(file.samples[2].chain.size() == 4);
  CHECK(file.samples.back().chain.back() == kSampledProgram + 0x200);
  CHECK(file.samples.back().chain[file.samples.back().chain.size() - 2] == kUserMark);
}

TEST_CASE("perf samples: the kernel's callers of the hypervisor") {
  SampledCore core({.stacks = true});
  core.at(kSampledKernel, {kNop, kNop});
  Instruction hypervisor = one(0x980, kNop);
  hypervisor.modes = {.bits = Modes::kHv, .known = Modes::kAll};
  core.sink().instruction(hypervisor);
  const ReadFile file = core.read();
  CHECK(file.samples.back().chain ==
        std::vector<uint64_t>{static_cast<uint64_t>(-32), 0x980, kKernelMark, kSampledKernel + 4});
}

TEST_CASE("perf samples: the kernel's callers in a program, without privileges in the trace") {
  SampledCore core({.stacks = true});
  constexpr uint64_t kInterrupt = 0xc000000000004900;
  for (const uint64_t ea : {kSampledProgram, kInterrupt}) core.sink().instruction(one(ea, kNop));
  CHECK(core.read().samples.back().chain ==
        std::vector<uint64_t>{kKernelMark, kInterrupt, kUserMark, kSampledProgram});
}

TEST_CASE("perf samples: a deep stack and many branches fit into a record") {
  SampledCore core({.stacks = true, .branches = PerfSampling::kMostBranches});
  uint64_t ea = kSampledProgram;
  for (unsigned i = 0; i < 3000; i++) {
    core.at(ea, {call(ea, ea + 0x100)});
    ea += 0x100;
  }
  const ReadFile file = core.read();
  REQUIRE(file.samples.size() == 3000);
  CHECK(file.samples.back().chain.size() == 129);  // 127 addresses
  CHECK(file.samples.back().chain[2] == ea - 0x100);
  CHECK(file.samples.back().chain[3] == ea - 0x200);
  CHECK(file.samples.back().branches.size() == 3 * PerfSampling::kMostBranches);
}

TEST_CASE("perf samples: times follow the instructions, and then the ticks") {
  SampledCore core({});
  core.run({kNop, kNop, kNop});
  Stamp stamp;
  stamp.kind = StampKind::kTime;
  stamp.elapsed = 100;
  core.sink().stamp(stamp);
  core.run({kNop, kNop});
  stamp.losses.records = 5;
  core.sink().stamp(stamp);
  core.run({kNop});
  const ReadFile file = core.read();
  std::vector<uint64_t> times;
  for (const ReadSample& sample : file.samples) times.push_back(sample.time);
  CHECK(times == std::vector<uint64_t>{0, 1, 2, 103, 103, 203});
  CHECK(std::ranges::count(file.records, "lost 5") == 1);
}

TEST_CASE("perf samples: processes, and the kernel on behalf of any process") {
  const Process first = Process::of(70, "first"), second = Process::of(0x7fffffff, "second");
  PerfMaps maps;
  maps.files = {{.path = "/bin/first", .build_id = "0123456789"},
                {.path = "[heap]", .build_id = {}}};
  maps.processes = {{.pid = 70,
                     .command = "first",
                     .mappings = {{.address = 0x10000, .bytes = 0x1000, .file = 0, .is_code = true},
                                  {.address = 0x20000, .bytes = 0x1000, .file = 1}}}};
  maps.kernel = {{.name = "[kernel.kallsyms]_text",
                  .begin = kSampledKernel,
                  .end = kSampledKernel + 0x1000,
                  .reference = kSampledKernel}};
  SampledCore core({.branches = 4}, {}, SampledCore::finished({}), maps);
  core.process(first);
  core.run({kNop, jump(4, 0x40)});
  core.process(Process::kernel());
  core.at(kSampledKernel, {kNop});
  core.process(first);
  core.at(kSampledProgram, {kNop});
  core.process(second);
  core.at(kSampledProgram + 0x40, {kNop});
  core.process(Process::unknown());
  core.at(kSampledProgram, {kNop});
  const ReadFile file = core.read();
  REQUIRE(file.samples.size() == 6);
  CHECK(file.samples[0].task == 0x4600000046);
  CHECK(file.samples[2].task == 0);
  CHECK(file.samples[3].task == 0x4600000046);
  CHECK(file.samples[3].branches.size() == 6);
  CHECK(file.samples[4].task == 0x7fffffff7fffffff);
  CHECK(file.samples[4].branches.empty());  // other maps
  CHECK(file.samples[5].task == ~uint64_t{0});
  const std::vector<std::string> maps_first(file.records.begin(), file.records.begin() + 3);
  CHECK(maps_first ==
        std::vector<std::string>{"mmap [kernel.kallsyms]_text c000000000010000-c000000000011000",
                                 "mmap /bin/first 10000-11000", "mmap [heap] 20000-21000"});
}

TEST_CASE("perf samples: code of an unknown process has the mappings of its program") {
  SymbolTable symbols = symbols_of_two();
  PerfMaps maps = PerfMaps::of(symbols, {});
  REQUIRE(maps.programs.size() == 2);
  SampledCore core({.branches = 4}, {}, std::move(symbols), std::move(maps));
  core.at(kSampledProgram, {kWordOfOne, kWordOfOne});
  core.at(kSampledProgram, {kWordOfOne});
  core.at(kSampledProgram, {kWordOfTwo});
  core.at(kSampledProgram + 4, {kWordOfTwo});
  core.at(kSampledProgram, {kNop});  // a third program
  core.at(kSampledProgram, {kWordOfOne});
  const ReadFile file = core.read();
  CHECK(file.records ==
        std::vector<std::string>{"mmap /bin/one 10000000-10000010", "sample", "sample", "sample",
                                 "mmap //anon 10000000-10000010", "mmap /bin/two 10000000-10000010",
                                 "sample", "sample", "mmap //anon 10000000-10000010", "sample",
                                 "mmap /bin/one 10000000-10000010", "sample"});
  std::vector<size_t> branches;
  for (const ReadSample& sample : file.samples) branches.push_back(sample.branches.size() / 3);
  // Branches of another program would have names of this program.
  CHECK(branches == std::vector<size_t>{0, 0, 1, 0, 0, 0, 0});
}

TEST_CASE("perf samples: code at an address of nobody belongs to no program") {
  SymbolTable symbols = symbols_of_two();
  PerfMaps maps = PerfMaps::of(symbols, {});
  SampledCore core({}, {}, std::move(symbols), std::move(maps));
  core.at(uint64_t{7} << 52 | kSampledProgram, {kWordOfOne});
  CHECK(core.read().records == std::vector<std::string>{"sample"});
}

// The kernel switches back to the first program. Its code has not run yet, so the maps are those of
// the second program.
TEST_CASE("perf samples: the program of the kernel's callers, after a change of the task") {
  constexpr uint64_t kEntry = 0xc000000000004900, kSwitch = 0xc000000000020000;
  constexpr uint64_t kFirstTask = 0xc000000010003e00, kSecondTask = 0xc000000010103e00;
  constexpr uint32_t kCopyStack = 0x7d014378;  // mr r1,r8
  SymbolTable symbols = symbols_of_two();
  PerfMaps maps = PerfMaps::of(symbols, {});
  SampledCore core({.stacks = true, .branches = 4}, {}, std::move(symbols), std::move(maps));
  const auto switch_to = [&](uint64_t stack) {
    core.call_to(kSwitch);
    core.run({kSaveWord, kCopyStack});
    core.stack = stack;
    core.run({kSaveWord, kBlr});
    core.at(kEntry + 0x10, {kSaveWord});
  };
  const auto enter = [&](uint64_t stack) {
    core.stack = stack;
    core.at(kEntry, {kNop, kNop, kSaveWord});
  };
  core.at(kSampledProgram, {kWordOfOne, kWordOfOne});
  enter(kFirstTask);
  switch_to(kSecondTask);
  core.run({kReturnFromIt});
  core.at(kSampledProgram, {kWordOfTwo, kWordOfTwo});
  enter(kSecondTask);
  switch_to(kFirstTask);
  const ReadFile file = core.read();
  const auto is_of = [&](size_t from_end, uint64_t task) {
    const ReadSample& sample = file.samples[file.samples.size() - from_end];
    CHECK(sample.mode == 1);
    CHECK(sample.chain.back() == kSampledProgram + 4);
    CHECK(sample.task == task);
  };
  is_of(6, ~uint64_t{0});  // for the second program
  is_of(1, 0);             // for the first program
}

TEST_CASE("perf samples: the remainder has the program and the branches of its instruction") {
  SymbolTable symbols = symbols_of_two();
  PerfMaps maps = PerfMaps::of(symbols, {});
  Selection selection;
  selection.numbers = {.first = 0, .last = 2};
  SampledCore core({.period = 100, .branches = 4}, selection, std::move(symbols), std::move(maps));
  core.at(kSampledKernel, {kNop});
  core.at(kSampledProgram, {kWordOfOne, kWordOfOne});
  core.at(kSampledKernel, {kNop});  // not selected
  core.at(kSampledProgram, {kWordOfTwo, kWordOfTwo});
  const ReadFile file = core.read();
  CHECK(file.records.back() == "sample");
  CHECK(file.records[file.records.size() - 2] == "mmap /bin/one 10000000-10000010");
  REQUIRE(file.samples.size() == 1);
  CHECK(file.samples[0].period == 3);
  CHECK(file.samples[0].ip == kSampledProgram + 4);
  CHECK(file.samples[0].branches.empty());  // the other program's code had the same addresses
}

TEST_CASE("perf samples: branches that follow the last selected instruction are not its branches") {
  Selection selection;
  selection.numbers = {.first = 0, .last = 1};
  SampledCore core({.period = 100, .branches = 4}, selection);
  core.at(kSampledProgram, {jump(0, 0x100)});
  core.at(kSampledProgram + 0x100, {jump(0, 0x100)});
  core.at(kSampledProgram + 0x200, {jump(0, 0x100)});
  core.at(kSampledProgram + 0x300, {kNop});
  const ReadFile file = core.read();
  REQUIRE(file.samples.size() == 1);
  CHECK(file.samples[0].ip == kSampledProgram + 0x100);
  REQUIRE(file.samples[0].branches.size() == 3);
  CHECK(file.samples[0].branches[0] == kSampledProgram);
}

TEST_CASE("perf samples: instructions without an address are counted, and separate branches") {
  SampledCore core({.branches = 4});
  core.run({jump(0, 0x40)});
  core.sink().instruction(Instruction());
  core.at(kSampledProgram + 0x40, {kNop});
  CHECK(core.counts().without_address == 1);
  CHECK(describe(core.counts()) ==
        "2 samples of 2 instructions; 1 instruction without an address omitted");
  const ReadFile file = core.read();
  CHECK(file.samples[1].branches.empty());
}

}  // namespace htmtrace

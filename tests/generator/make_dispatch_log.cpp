// SPDX-License-Identifier: GPL-2.0-or-later
// make_dispatch_log ENTRIES CPUS FILE [tasks] [SEED [PARTITION [TICKS]]]: a recording of the
// dispatch trace log, htmtrace-dtl(5), with about ENTRIES entries, and with tasks on request. With
// a seed, other than 0, the blocks of entries have random sizes. PARTITION is the number of the
// partition, and TICKS is the number of ticks per second.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "core/dispatch_log/blocks.h"
#include "tests/generator/generated_trace.h"
#include "tests/generator/plausible_dispatches.h"
#include "tests/generator/write_file.h"

using namespace htmtrace;
using generator::write_or_exit;

namespace {

constexpr uint64_t kTimebaseHz = 512'000'000;
// A virtual processor has two of them, by turns of 10 ms, and the idle one.
constexpr const char* kTaskNames = "100 100 database\n100 101 log writer\n";
constexpr uint64_t kTurnTicks = kTimebaseHz / 100;
constexpr uint8_t kCeded = 2;

// Appends switches that fit these entries to `to`.
void add_switches(unsigned cpu, std::span<const DtlEntry> entries, DtlTaskTrack& track,
                  std::vector<std::byte>& to) {
  const DtlClock clock{.boot_timebase = 0, .ticks_per_second = kTimebaseHz};
  for (const DtlEntry& entry : entries) {
    const uint64_t ns = *clock.nanoseconds(entry.timebase);
    const auto turn = static_cast<uint32_t>(entry.timebase / kTurnTicks % 2);
    track.switched(ns, kIdleTask,
                   entry.preempt_reason == kCeded ? kIdleTask : DtlTask{100, 100 + turn});
  }
  if (const auto part = track.take_new()) add_dtl_switches(static_cast<uint16_t>(cpu), *part, to);
  track.forget(UINT64_MAX);
}

}  // namespace

int main(int argc, char** argv) {
  const bool tasks = argc > 4 && std::strcmp(argv[4], "tasks") == 0;
  const int seed_at = tasks ? 5 : 4;
  const bool usable = argc >= seed_at && argc <= seed_at + 3;
  const unsigned long entries = usable ? std::strtoul(argv[1], nullptr, 10) : 0;
  const unsigned long cpus = usable ? std::strtoul(argv[2], nullptr, 10) : 0;
  const unsigned long seed = argc > seed_at ? std::strtoul(argv[seed_at], nullptr, 10) : 0;
  if (entries == 0 || cpus == 0 || cpus > 65536) {
    std::fputs("usage: make_dispatch_log ENTRIES CPUS FILE [tasks] [SEED [PARTITION [TICKS]]]\n",
               stderr);
    return 2;
  }
  const char* name = argv[3];
  std::FILE* file = std::fopen(name, "wb");
  std::string about = tasks ? "event all\ntasks switches\n" : "event all\n";
  if (argc > seed_at + 1) about += std::string("partition ") + argv[seed_at + 1] + "\n";
  const uint64_t hz =
      argc > seed_at + 2 ? std::strtoul(argv[seed_at + 2], nullptr, 10) : kTimebaseHz;
  write_or_exit(file, make_dtl_text_block(DtlBlockKind::kStart, about), name);
  if (tasks) write_or_exit(file, make_dtl_text_block(DtlBlockKind::kNames, kTaskNames), name);
  write_or_exit(file, make_dtl_clock_block({.ticks_per_second = hz}), name);
  std::vector<generator::PlausibleDispatches> processors;
  std::vector<DtlCpuBlocks> cpu_blocks;
  std::vector<DtlTaskTrack> tracks(cpus);
  for (unsigned cpu = 0; cpu < cpus; cpu++) {
    processors.emplace_back(cpu + static_cast<unsigned>(seed * 65536));
    cpu_blocks.emplace_back(static_cast<uint16_t>(cpu));
  }
  std::vector<std::byte> bytes;
  std::vector<DtlEntry> block(kMostDtlEntries);
  generator::Random random(seed);
  for (unsigned long written = 0; written < entries;) {
    for (unsigned cpu = 0; cpu < cpus && written < entries; cpu++, written += block.size()) {
      if (seed != 0) block.resize(1 + random.below(random.chance(300) ? kMostDtlEntries : 300));
      for (DtlEntry& entry : block) entry = processors[cpu].next();
      bytes.clear();
      if (tasks) add_switches(cpu, block, tracks[cpu], bytes);
      cpu_blocks[cpu].add(block, hz, bytes);
      write_or_exit(file, bytes, name);
    }
  }
  bytes.clear();
  for (DtlCpuBlocks& blocks : cpu_blocks) blocks.finish(bytes);
  if (!bytes.empty()) write_or_exit(file, bytes, name);
  write_or_exit(file, make_dtl_end_block({.status = 0, .text = {}}), name);
  return std::fclose(file) == 0 ? 0 : 1;
}

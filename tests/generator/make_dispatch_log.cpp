// SPDX-License-Identifier: GPL-2.0-or-later
// make_dispatch_log ENTRIES CPUS FILE: a recording of the dispatch trace log, htmtrace-dtl(5), with
// about so many entries. For benchmarks.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "core/dtl_blocks.h"
#include "tests/generator/plausible_dispatches.h"
#include "tests/generator/write_file.h"

using namespace htmtrace;
using generator::write_or_exit;

namespace {

constexpr uint64_t kTimebaseHz = 512'000'000;

}  // namespace

int main(int argc, char** argv) {
  const unsigned long entries = argc == 4 ? std::strtoul(argv[1], nullptr, 10) : 0;
  const unsigned long cpus = argc == 4 ? std::strtoul(argv[2], nullptr, 10) : 0;
  if (entries == 0 || cpus == 0 || cpus > 65536) {
    std::fputs("usage: make_dispatch_log ENTRIES CPUS FILE\n", stderr);
    return 2;
  }
  const char* name = argv[3];
  std::FILE* file = std::fopen(name, "wb");
  write_or_exit(file, make_dtl_text_block(DtlBlockKind::kStart, "event all\n"), name);
  write_or_exit(file, make_dtl_clock_block({.ticks_per_second = kTimebaseHz}), name);
  std::vector<generator::PlausibleDispatches> processors;
  std::vector<DtlCpuBlocks> cpu_blocks;
  for (unsigned cpu = 0; cpu < cpus; cpu++) {
    processors.emplace_back(cpu);
    cpu_blocks.emplace_back(static_cast<uint16_t>(cpu));
  }
  std::vector<std::byte> bytes;
  std::vector<DtlEntry> block(kMostDtlEntries);
  for (unsigned long written = 0; written < entries;) {
    for (unsigned cpu = 0; cpu < cpus && written < entries; cpu++, written += kMostDtlEntries) {
      for (DtlEntry& entry : block) entry = processors[cpu].next();
      bytes.clear();
      cpu_blocks[cpu].add(block, kTimebaseHz, bytes);
      write_or_exit(file, bytes, name);
    }
  }
  bytes.clear();
  for (DtlCpuBlocks& blocks : cpu_blocks) blocks.finish(bytes);
  if (!bytes.empty()) write_or_exit(file, bytes, name);
  write_or_exit(file, make_dtl_text_block(DtlBlockKind::kEnd, "status 0\n"), name);
  return std::fclose(file) == 0 ? 0 : 1;
}

// SPDX-License-Identifier: GPL-2.0-or-later
// Recordings of the dispatch trace log, htmtrace-dtl(5).
#include <algorithm>
#include <filesystem>
#include <string>

#include "core/base/big_endian.h"
#include "core/base/crc32c.h"
#include "core/base/spread.h"
#include "core/dispatch_log/blocks.h"
#include "tests/bombs/bomb.h"

namespace htmtrace::bombs {
namespace {

constexpr uint64_t kTimebaseHz = 512'000'000;

void put_start(File& file) {
  file.put(make_dtl_text_block(DtlBlockKind::kStart, "event all\ntasks switches\n"));
  file.put(make_dtl_clock_block({.ticks_per_second = kTimebaseHz}));
}

// Headers, each of which announces 1 MiB with a wrong checksum.
void false_payloads(unsigned scale) {
  File file("log.dtl");
  put_start(file);
  std::vector<std::byte> header = make_dtl_entries_block(0, std::vector<DtlEntry>(1));
  header.resize(kDtlHeaderBytes);
  // htmtrace-dtl(5), BLOCKS: the size of the payload, and the checksum of the header.
  constexpr size_t kPayloadOffset = 8, kHeaderCrcOffset = 36;
  store_be32(header.data() + kPayloadOffset, kMostDtlPayload);
  store_be32(header.data() + kHeaderCrcOffset,
             crc32c(std::span<const std::byte>(header).first(kHeaderCrcOffset)));
  for (unsigned i = 0; i < 50'000 * scale; i++) file.put(header);
}

void blocks_of_cpus(unsigned) {
  File file("log.dtl");
  put_start(file);
  std::vector<DtlEntry> entries(2);
  for (unsigned cpu = 0; cpu < 65'536; cpu++) {
    for (DtlEntry& entry : entries) entry.timebase += 1000;
    file.put(make_dtl_entries_block(static_cast<uint16_t>(cpu), entries));
  }
}

// Switches that take no space, for each of many processors.
void packed_switches(unsigned) {
  File file("log.dtl");
  put_start(file);
  std::vector<DtlSwitch> switches(kMostDtlEntries);
  for (size_t i = 0; i < switches.size(); i++) {
    switches[i] = {.ns = i, .task = {static_cast<uint32_t>(i % 2), 1}};
  }
  for (unsigned cpu = 0; cpu < 16'000; cpu++) {
    file.put(make_dtl_switches_block(static_cast<uint16_t>(cpu), switches, switches.size()));
    file.put(make_dtl_entries_block(static_cast<uint16_t>(cpu), std::vector<DtlEntry>(1)));
  }
}

void blocks_of_names(unsigned scale) {
  File file("log.dtl");
  put_start(file);
  std::vector<std::byte> blocks;
  std::string lines;
  for (unsigned i = 0; i < 500'000 * scale; i++) lines += std::to_string(i) + " 1 a\n";
  add_dtl_names(lines, blocks);
  file.put(blocks);
}

// Empty blocks of a CPU without statistics.
void small_blocks(unsigned scale) {
  File file("log.dtl");
  put_start(file);
  for (unsigned i = 0; i < 100'000 * scale; i++) {
    file.put(make_dtl_entries_block(static_cast<uint16_t>(i % 512), std::vector<DtlEntry>(1)));
  }
}

// Processors whose keys in the table of homes all have neighboring places, if the table spreads its
// keys with the known factor.
void colliding_processors(unsigned) {
  constexpr unsigned kCpus = 1024, kTableBits = 19, kPlaces = 2048;
  File file("log.dtl");
  put_start(file);
  uint64_t timebase = 0;
  for (uint64_t cpu = 0; cpu < kCpus; cpu++) {
    std::vector<DtlEntry> entries;
    for (uint64_t processor = 0; processor < 65'536; processor++) {
      const uint64_t place = spread(cpu << 16 | processor) >> 32 & ((1U << kTableBits) - 1);
      if (place >= kPlaces) continue;
      entries.push_back(
          {.processor_id = static_cast<uint16_t>(processor), .timebase = timebase += 1000});
    }
    file.put(make_dtl_entries_block(static_cast<uint16_t>(cpu), entries));
  }
}

// The same file under another name is the recording of another partition.
void two_recordings(unsigned scale) {
  colliding_processors(scale);
  std::filesystem::copy_file("log.dtl", "other.dtl");
}

// Each of many processors stops for each of the reasons with a name, and has a histogram for each.
void put_all_reasons(unsigned) {
  File file("log.dtl");
  put_start(file);
  std::vector<DtlEntry> entries(12);
  for (size_t i = 0; i < entries.size(); i++) entries[i].preempt_reason = static_cast<uint8_t>(i);
  for (unsigned cpu = 0; cpu < 2'000; cpu++) {
    for (DtlEntry& entry : entries) entry.timebase += 1000;
    file.put(make_dtl_entries_block(static_cast<uint16_t>(cpu), entries));
  }
}

}  // namespace

std::vector<Bomb> dispatch_bombs() {
  using enum Outcome;
  const std::vector<std::string> summary = {"dtl", "--summary", "--input", "log.dtl"};
  const std::vector<std::string> check = {"dtl", "--check", "--summary", "--input", "log.dtl"};
  const std::vector<std::string> entries = {"dtl", "--input", "log.dtl"};
  const std::vector<std::string> tasks = {"dtl", "--tasks", "--input", "log.dtl"};
  return {
      {"dtl-payloads", kEither, false_payloads, entries},
      {"dtl-payloads-summary", kEither, false_payloads, summary},
      {"dtl-payloads-check", kEither, false_payloads, check},
      {"dtl-cpus", kEither, blocks_of_cpus, entries},
      {"dtl-cpus-summary", kEither, blocks_of_cpus, summary},
      {"dtl-cpus-tasks", kEither, blocks_of_cpus, tasks},
      {"dtl-switches", kEither, packed_switches, tasks},
      {"dtl-names", kEither, blocks_of_names, tasks},
      {"dtl-blocks", kRead, small_blocks, summary},
      {"dtl-processors", kEither, colliding_processors, summary},
      {"dtl-merge", kEither, two_recordings, {"dtl", "--input", "log.dtl", "--merge", "other.dtl"}},
      {"dtl-metrics",
       kEither,
       blocks_of_cpus,
       {"dtl", "--input", "log.dtl", "--metrics", "m.prom"}},
      {"dtl-metrics-reasons",
       kRead,
       put_all_reasons,
       {"dtl", "--input", "log.dtl", "--metrics", "m.prom"}},
      {"dtl-interval", kEither, blocks_of_cpus, {"dtl", "--interval", "1ms", "--input", "log.dtl"}},
  };
}

}  // namespace htmtrace::bombs

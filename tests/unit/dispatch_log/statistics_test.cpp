// SPDX-License-Identifier: GPL-2.0-or-later
// The summary from the statistics of a recording equals the summary from its entries.
#include "core/dispatch_log/statistics.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "core/base/big_endian.h"
#include "core/base/crc32c.h"
#include "core/dispatch_log/blocks.h"
#include "output/recording/dispatches.h"
#include "output/report/dtl_summary.h"
#include "tests/generator/plausible_dispatches.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {
namespace {

using Bytes = std::vector<std::byte>;
using Entries = std::vector<DtlEntry>;

constexpr uint64_t kFrequency = 512'000'000;

// `variety` is the number of different addresses.
Entries strange(size_t count, uint64_t variety, std::mt19937_64& random) {
  Entries entries(count);
  uint64_t timebase = random() >> random() % 64;
  for (DtlEntry& entry : entries) {
    const auto any = [&] { return random() >> random() % 64; };
    // Most entries are in time order. Some go back in time, or far ahead.
    timebase = random() % 50 == 0 ? any() : timebase + random() % 100'000'000;
    entry = {.dispatch_reason = static_cast<uint8_t>(any()),
             .preempt_reason = static_cast<uint8_t>(any()),
             .processor_id = static_cast<uint16_t>(random() % std::min<uint64_t>(variety, 40)),
             .enqueue_to_dispatch = static_cast<uint32_t>(any()),
             .ready_to_enqueue = static_cast<uint32_t>(any()),
             .waiting_to_ready = static_cast<uint32_t>(any()),
             .timebase = timebase,
             .fault_address = random() % 4 == 0 ? ~(random() % variety << 12) : 0,
             .srr0 = ~(random() % variety << 2),
             .srr1 = 0};
  }
  return entries;
}

Entries dispatches(size_t count, unsigned seed) {
  generator::PlausibleDispatches processor(seed);
  Entries entries(count);
  for (DtlEntry& entry : entries) entry = processor.next();
  return entries;
}

// Adds up to kMostDtlEntries entries.
void add_block(DtlGroup& group, std::span<const DtlEntry> entries, uint64_t ticks_per_second) {
  DtlColumns columns;
  const DtlTimes times = columns.assign(entries);
  group.add(columns, times, ticks_per_second);
}

// A recording, and the way to read it.
class Recording {
 public:
  Recording() {
    append(make_dtl_text_block(DtlBlockKind::kStart, "event all\n"));
    append(make_dtl_clock_block({.boot_timebase = 5, .ticks_per_second = kFrequency}));
  }

  void add(uint16_t cpu, std::span<const DtlEntry> block) {
    cpus_.try_emplace(cpu, cpu, 4000).first->second.add(block, kFrequency, bytes);
  }
  // Adds a group whose statistics have more addresses than the recorder writes.
  void add_group(uint16_t cpu, std::span<const DtlEntry> entries) {
    DtlGroup group(DtlStatistics::kMostKeys);
    while (!entries.empty()) {
      const auto block = entries.first(std::min(entries.size(), kMostDtlEntries));
      entries = entries.subspan(block.size());
      append(make_dtl_entries_block(cpu, block));
      add_block(group, block, kFrequency);
    }
    REQUIRE(group.exact());
    append(make_dtl_statistics_block(cpu, group.statistics()));
  }
  void end() {
    for (auto& [cpu, blocks] : cpus_) blocks.finish(bytes);
    append(make_dtl_end_block({.status = 0, .text = {}}));
  }

  struct Result {
    std::string summary;
    uint64_t entries = 0, passed_by = 0, contradictions = 0, damaged_bytes = 0;
  };

  Result read(DtlStatisticsUse use, const DtlReader::Wanted& wanted = {}) const {
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    DtlReader reader(InputFile::open(path_), use);
    std::map<int, DtlAnalysis> analyses;
    DtlPlaces places(ProcessorBits{.chip = 2, .node = 4});
    while (const auto block = reader.next(wanted)) {
      DtlAnalysis& analysis = analyses[block->cpu];
      if (block->statistics != nullptr) {
        block->statistics->append_to(analysis, block->cpu, places);
      } else {
        analysis.add(block->entries, block->cpu, reader.clock().ticks_per_second, places);
      }
    }
    DtlSummary summary;
    summary.clock = reader.clock();
    for (const auto& [cpu, analysis] : analyses) summary.cpus.emplace_back(cpu, &analysis);
    summary.places = &places;
    summary.distances = true;
    summary.top = 100000;
    return {.summary = summary.to_text(),
            .entries = reader.entries(),
            .passed_by = reader.passed_by(),
            .contradictions = reader.contradictions(),
            .damaged_bytes = reader.damaged_bytes()};
  }

  // Returns the offsets of the blocks of a kind.
  std::vector<size_t> blocks(DtlBlockKind kind) const {
    std::vector<size_t> offsets;
    for (size_t at = 0; at < bytes.size();) {
      const auto header = parse_dtl_header(std::span(bytes).subspan(at, kDtlHeaderBytes));
      REQUIRE(header);
      if (header->kind == kind) offsets.push_back(at);
      at += kDtlHeaderBytes + header->payload_bytes;
    }
    return offsets;
  }

  Bytes bytes;

 private:
  void append(const Bytes& block) { bytes.insert(bytes.end(), block.begin(), block.end()); }

  std::map<uint16_t, DtlCpuBlocks> cpus_;
  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "log.dtl";
};

// Several groups of two CPUs, in blocks of different sizes.
void fill_plausible(Recording& recording) {
  const Entries first = dispatches(10'000, 1), second = dispatches(6'000, 2);
  std::mt19937_64 random(4);
  size_t at = 0, other = 0;
  while (at < first.size() || other < second.size()) {
    const size_t now = std::min<size_t>(first.size() - at, 1 + random() % 600);
    if (now != 0) recording.add(0, std::span(first).subspan(at, now));
    at += now;
    const size_t then = std::min<size_t>(second.size() - other, 1 + random() % 600);
    if (then != 0) recording.add(700, std::span(second).subspan(other, then));
    other += then;
  }
  recording.end();
}

}  // namespace

TEST_CASE("merged values of two parts of a log equal the values of the whole log") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; round++) {
    StolenIntervals whole, left, right;
    const size_t count = random() % 12;
    const size_t cut = random() % (count + 1);
    uint64_t time = random() % 3 == 0 ? UINT64_MAX - 100 : random() % 100;
    for (size_t i = 0; i < count; i++) {
      time += random() % 10 == 0 ? random() : random() % 15;
      const uint64_t stolen = random() % 5;
      whole.add(time, stolen, 20);
      (i < cut ? left : right).add(time, stolen, 20);
    }
    left.append(right);
    CAPTURE(round);
    CHECK(left.most() == whole.most());
    CHECK(left.count == whole.count);
    CHECK(left.last == whole.last);
  }
}

TEST_CASE("statistics are packed without loss and equal those of the entries") {
  std::mt19937_64 random(2);
  for (int round = 0; round < 8; round++) {
    CAPTURE(round);
    const uint64_t ticks = round % 4 == 3 ? 0 : kFrequency;
    DtlAnalysis whole, parts;
    DtlPlaces whole_places, parts_places;
    for (int part = 0; part < 3; part++) {
      const Entries entries = strange(1 + random() % 600, 1 + random() % 1000, random);
      whole.add(entries, 3, ticks, whole_places);
      DtlGroup group;
      const size_t cut = random() % entries.size();
      if (cut != 0) add_block(group, std::span(entries).first(cut), ticks);
      add_block(group, std::span(entries).subspan(cut), ticks);
      CHECK(group.exact());
      Bytes packed, again;
      group.statistics().pack(packed);
      DtlStatistics statistics;
      REQUIRE(statistics.unpack(packed));
      CHECK(statistics.entries() == entries.size());
      statistics.pack(again);
      CHECK(again == packed);
      statistics.append_to(parts, 3, parts_places);
    }
    DtlSummary of_whole, of_parts;
    of_whole.clock = of_parts.clock = {.boot_timebase = 0, .ticks_per_second = ticks};
    of_whole.cpus = {{3, &whole}};
    of_parts.cpus = {{3, &parts}};
    of_whole.places = &whole_places;
    of_parts.places = &parts_places;
    of_whole.top = of_parts.top = 100000;
    CHECK(of_parts.to_text() == of_whole.to_text());
    CHECK(parts.enqueue_to_dispatch() == whole.enqueue_to_dispatch());
    CHECK(parts.ready_to_enqueue() == whole.ready_to_enqueue());
    CHECK(parts.waiting_to_ready() == whole.waiting_to_ready());
  }
}

TEST_CASE("a group with too many different addresses has no exact statistics") {
  std::mt19937_64 random(3);
  DtlGroup group;
  for (int i = 0; i < 3; i++) {
    add_block(group, strange(4096, uint64_t{1} << 40, random), kFrequency);
  }
  CHECK_FALSE(group.exact());
  group.clear();
  add_block(group, strange(4096, 10, random), kFrequency);
  CHECK(group.exact());
  add_block(group, strange(10, 10, random), kFrequency + 1);
  CHECK_FALSE(group.exact());
}

TEST_CASE("all statistics that a file allows can be checked") {
  for (const size_t addresses :
       {DtlGroup::kMostKeys, DtlGroup::kMostKeys + 1, DtlStatistics::kMostKeys}) {
    CAPTURE(addresses);
    Entries entries = dispatches(DtlStatistics::kMostKeys, 1);
    for (size_t i = 0; i < entries.size(); i++) entries[i].srr0 = i % addresses * 4;
    Recording recording;
    recording.add_group(0, entries);
    recording.end();
    CHECK(recording.read(DtlStatisticsUse::kCheck).contradictions == 0);
    CHECK(recording.read(DtlStatisticsUse::kTrust).passed_by == entries.size());
    recording.bytes[recording.blocks(DtlBlockKind::kStatistics).front() + kDtlHeaderBytes + 300] ^=
        std::byte{1};
    CHECK(recording.read(DtlStatisticsUse::kTrust).passed_by == 0);
  }
}

TEST_CASE("statistics of any bytes are safe to read") {
  DtlGroup group;
  add_block(group, dispatches(3000, 1), kFrequency);
  Bytes packed;
  group.statistics().pack(packed);
  DtlStatistics statistics;
  for (size_t length = 0; length < packed.size(); length += 23) {
    const Bytes cut(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(length));
    CHECK_FALSE(statistics.unpack(cut));
  }
  for (size_t at = 0; at < packed.size(); at += 3) {
    Bytes damaged = packed;
    damaged[at] ^= std::byte{0xff};
    statistics.unpack(damaged);
  }
}

TEST_CASE("a summary from the statistics of a recording equals that from its entries") {
  Recording recording;
  fill_plausible(recording);
  const auto by_entries = recording.read(DtlStatisticsUse::kNone);
  const auto trusted = recording.read(DtlStatisticsUse::kTrust);
  const auto checked = recording.read(DtlStatisticsUse::kCheck);
  CHECK(trusted.summary == by_entries.summary);
  CHECK(checked.summary == by_entries.summary);
  CHECK(by_entries.entries == 16'000);
  CHECK(trusted.entries == 16'000);
  // The last groups are too small for statistics to save room.
  CHECK(trusted.passed_by > 12'000);
  CHECK(trusted.passed_by < 16'000);
  CHECK(checked.contradictions == 0);

  const DtlClock clock{.boot_timebase = 5, .ticks_per_second = kFrequency};
  const uint64_t begin = *clock.nanoseconds(1'000'000'000);
  std::mt19937_64 random(5);
  uint64_t passed_by = 0;
  for (int round = 0; round < 6; round++) {
    DtlReader::Wanted wanted;
    wanted.from_ns = begin + random() % 2'000'000'000;
    wanted.to_ns = begin + random() % 6'000'000'000;
    if (round % 3 == 0) wanted.cpus = {round % 2 == 0 ? 0 : 700};
    CAPTURE(*wanted.from_ns);
    CAPTURE(*wanted.to_ns);
    const auto slice = recording.read(DtlStatisticsUse::kTrust, wanted);
    CHECK(slice.summary == recording.read(DtlStatisticsUse::kNone, wanted).summary);
    passed_by += slice.passed_by;
  }
  CHECK(passed_by != 0);
}

TEST_CASE("a summary from statistics is also correct for arbitrary entries") {
  std::mt19937_64 random(6);
  Recording recording;
  for (int block = 0; block < 12; block++) {
    recording.add(static_cast<uint16_t>(block % 3), strange(1500, 600, random));
  }
  recording.end();
  const auto trusted = recording.read(DtlStatisticsUse::kTrust);
  CHECK(trusted.passed_by > 10'000);
  CHECK(trusted.summary == recording.read(DtlStatisticsUse::kNone).summary);
  CHECK(trusted.summary == recording.read(DtlStatisticsUse::kCheck).summary);
}

TEST_CASE("a group with damaged statistics is unpacked") {
  Recording recording;
  fill_plausible(recording);
  const auto whole = recording.read(DtlStatisticsUse::kTrust);
  for (const size_t at : recording.blocks(DtlBlockKind::kStatistics)) {
    recording.bytes[at + kDtlHeaderBytes + 300] ^= std::byte{1};
    const auto damaged = recording.read(DtlStatisticsUse::kTrust);
    CHECK(damaged.summary == whole.summary);
    CHECK(damaged.passed_by < whole.passed_by);
    CHECK(damaged.damaged_bytes != 0);
  }
}

TEST_CASE("statistics replace damaged entries unless they must be checked") {
  Recording recording;
  fill_plausible(recording);
  const auto whole = recording.read(DtlStatisticsUse::kTrust);
  recording.bytes[recording.blocks(DtlBlockKind::kEntries)[3] + 500] ^= std::byte{1};
  const auto trusted = recording.read(DtlStatisticsUse::kTrust);
  CHECK(trusted.summary == whole.summary);
  CHECK(trusted.damaged_bytes == 0);
  const auto checked = recording.read(DtlStatisticsUse::kCheck);
  CHECK(checked.summary == recording.read(DtlStatisticsUse::kNone).summary);
  CHECK(checked.damaged_bytes != 0);
}

TEST_CASE("missing bytes of a skipped block are detected") {
  const auto remove = [](Recording& recording, size_t begin, size_t count) {
    const auto at = recording.bytes.begin() + static_cast<std::ptrdiff_t>(begin);
    recording.bytes.erase(at, at + static_cast<std::ptrdiff_t>(count));
  };
  for (const size_t block : {0U, 3U, 9U}) {
    CAPTURE(block);
    Recording recording;
    fill_plausible(recording);
    remove(recording, recording.blocks(DtlBlockKind::kEntries)[block] + 100, 77);
    const auto trusted = recording.read(DtlStatisticsUse::kTrust);
    const auto by_entries = recording.read(DtlStatisticsUse::kNone);
    CHECK(trusted.summary == by_entries.summary);
    CHECK(trusted.entries == by_entries.entries);
    CHECK(trusted.damaged_bytes == by_entries.damaged_bytes);
  }
  // The end of the file is missing.
  Recording recording;
  fill_plausible(recording);
  recording.bytes.resize(recording.bytes.size() * 3 / 4);
  const auto trusted = recording.read(DtlStatisticsUse::kTrust);
  CHECK(trusted.summary == recording.read(DtlStatisticsUse::kNone).summary);
  CHECK(trusted.passed_by != 0);
}

TEST_CASE("statistics that contradict their entries are reported") {
  Recording recording;
  fill_plausible(recording);
  // Changes a count of the first group and keeps its checksums correct.
  const size_t at = recording.blocks(DtlBlockKind::kStatistics).front();
  const std::span bytes(recording.bytes);
  auto header = parse_dtl_header(bytes.subspan(at, kDtlHeaderBytes));
  const auto payload = bytes.subspan(at + kDtlHeaderBytes, header->payload_bytes);
  constexpr size_t kLateOffset = 56;  // the eighth word
  payload[kLateOffset] ^= std::byte{1};
  store_be32(bytes.data() + at + 32, crc32c(payload));
  store_be32(bytes.data() + at + 36, crc32c(bytes.subspan(at, 36)));
  const auto checked = recording.read(DtlStatisticsUse::kCheck);
  CHECK(checked.contradictions == 1);
  CHECK(checked.summary == recording.read(DtlStatisticsUse::kNone).summary);
  CHECK(recording.read(DtlStatisticsUse::kTrust).summary != checked.summary);
}

}  // namespace htmtrace

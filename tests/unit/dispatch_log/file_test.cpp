// SPDX-License-Identifier: GPL-2.0-or-later
// Tests a dispatch trace log's file: packing is lossless, and damage affects only the blocks that
// it hits.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/crc32c.h"
#include "core/base/error.h"
#include "core/dispatch_log/blocks.h"
#include "core/dispatch_log/codec.h"
#include "output/recording/dispatches.h"
#include "tests/generator/plausible_dispatches.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {
namespace {

using FileBytes = std::vector<std::byte>;

// Entries as the log stores them, for comparison.
FileBytes log_bytes(const std::vector<DtlEntry>& entries) {
  FileBytes bytes(entries.size() * kDtlEntryBytes);
  for (size_t i = 0; i < entries.size(); i++) {
    store_dtl_entry(bytes.data() + i * kDtlEntryBytes, entries[i]);
  }
  return bytes;
}

std::vector<DtlEntry> plausible(size_t count, unsigned seed) {
  generator::PlausibleDispatches processor(seed);
  std::vector<DtlEntry> entries(count);
  for (DtlEntry& entry : entries) entry = processor.next();
  return entries;
}

FileBytes unpacked(const FileBytes& packed, size_t count) {
  std::vector<DtlEntry> entries(count);
  REQUIRE(unpack_dtl_entries(packed, entries));
  return log_bytes(entries);
}

struct File {
  TemporaryFolder folder;
  std::filesystem::path path = folder.path() / "log.dtl";

  void write(const FileBytes& bytes) const {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
};

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

void append(FileBytes& to, const FileBytes& block) {
  to.insert(to.end(), block.begin(), block.end());
}

// Three blocks of entries of two CPUs.
FileBytes whole_file() {
  FileBytes file;
  append(file, make_dtl_text_block(DtlBlockKind::kStart, "event all\n"));
  append(file, make_dtl_clock_block({.boot_timebase = 7, .ticks_per_second = 512'000'000}));
  append(file, make_dtl_entries_block(0, plausible(100, 1)));
  append(file, make_dtl_entries_block(65535, plausible(200, 2)));
  append(file, make_dtl_entries_block(0, plausible(50, 3)));
  append(file, make_dtl_end_block({.status = 0, .text = {}}));
  return file;
}

struct Contents {
  size_t blocks = 0, entries = 0;
};

Contents read_all(DtlReader& reader, const DtlReader::Wanted& wanted = {}) {
  Contents contents;
  while (const auto block = reader.next(wanted)) {
    contents.blocks++;
    contents.entries += block->entries.size();
  }
  return contents;
}

}  // namespace

TEST_CASE("a file relates the timebase to the time of day") {
  const auto of_block = [](const DtlClockBlock& clock, uint64_t timebase) {
    File file;
    FileBytes bytes = make_dtl_text_block(DtlBlockKind::kStart, "event all\n");
    append(bytes, make_dtl_clock_block(clock));
    file.write(bytes);
    DtlReader reader(InputFile::open(file.path));
    CHECK(!reader.realtime_ns(timebase));
    read_all(reader);
    return reader.realtime_ns(timebase);
  };
  const DtlClockBlock clock{.boot_timebase = 7,
                            .ticks_per_second = 500'000'000,
                            .timebase = 1000,
                            .monotonic_ns = 5,
                            .realtime_ns = 1'000'000};
  CHECK(of_block(clock, 1000) == 1'000'000);
  CHECK(of_block(clock, 1500) == 1'001'000);
  CHECK(of_block(clock, 0) == 998'000);
  DtlClockBlock young = clock;
  young.realtime_ns = 100;  // less than the time since timebase 0
  CHECK(of_block(young, 0) == 0);
  DtlClockBlock unset = clock;
  unset.realtime_ns = 0;
  CHECK(!of_block(unset, 1500));
}

TEST_CASE("any entries survive packing and unpacking") {
  std::mt19937_64 random(5);
  std::vector<DtlEntry> extremes(300);
  for (DtlEntry& entry : extremes) {
    const auto any = [&] { return random() >> random() % 64; };
    entry = {.dispatch_reason = static_cast<uint8_t>(any()),
             .preempt_reason = static_cast<uint8_t>(any()),
             .processor_id = static_cast<uint16_t>(any()),
             .enqueue_to_dispatch = static_cast<uint32_t>(any()),
             .ready_to_enqueue = static_cast<uint32_t>(any()),
             .waiting_to_ready = static_cast<uint32_t>(any()),
             .timebase = any(),
             .fault_address = any(),
             .srr0 = any(),
             .srr1 = any()};
  }
  extremes.push_back({});
  extremes.push_back({.dispatch_reason = 255,
                      .preempt_reason = 255,
                      .processor_id = UINT16_MAX,
                      .enqueue_to_dispatch = UINT32_MAX,
                      .ready_to_enqueue = UINT32_MAX,
                      .waiting_to_ready = UINT32_MAX,
                      .timebase = UINT64_MAX,
                      .fault_address = UINT64_MAX,
                      .srr0 = UINT64_MAX,
                      .srr1 = UINT64_MAX});
  for (const auto& entries : {extremes, plausible(4096, 1), plausible(1, 2), plausible(0, 3)}) {
    FileBytes packed;
    pack_dtl_entries(entries, packed);
    CHECK(unpacked(packed, entries.size()) == log_bytes(entries));
  }
}

TEST_CASE("a plausible entry takes at most ten bytes") {
  FileBytes packed;
  pack_dtl_entries(plausible(4096, 1), packed);
  CHECK(packed.size() < 10 * 4096);
  MESSAGE("bytes for 4096 entries: " << packed.size());
}

TEST_CASE("scattered addresses take only the bits in which they differ") {
  std::mt19937_64 random(2);
  std::vector<DtlEntry> entries = plausible(4096, 1);
  for (DtlEntry& entry : entries) {
    const uint64_t kernel = 0xc000000000000000 + random() % 0x200000;
    const uint64_t user = 0x7fff80000000 + random() % 0x100000;
    entry.srr0 = (random() % 2 == 0 ? kernel : user) & ~uint64_t{3};
  }
  FileBytes packed;
  pack_dtl_entries(entries, packed);
  CHECK(unpacked(packed, entries.size()) == log_bytes(entries));
  CHECK(packed.size() < 11 * 4096);
  MESSAGE("bytes for 4096 entries: " << packed.size());
}

TEST_CASE("truncated data is rejected, and any bytes are safe to unpack") {
  FileBytes packed;
  pack_dtl_entries(plausible(100, 1), packed);
  std::vector<DtlEntry> entries(kMostDtlEntries);
  const auto first = [&](size_t count) { return std::span(entries).first(count); };
  CHECK(unpack_dtl_entries(packed, first(100)));
  CHECK_FALSE(unpack_dtl_entries(packed, first(101)));
  CHECK_FALSE(unpack_dtl_entries(packed, first(99)));
  CHECK_FALSE(unpack_dtl_entries({}, entries));
  for (size_t length = 0; length < packed.size(); length++) {
    // A separate allocation, so that the sanitizer detects a read beyond its end.
    const FileBytes cut(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(length));
    CHECK_FALSE(unpack_dtl_entries(cut, first(100)));
  }
  for (size_t at = 0; at < packed.size(); at++) {
    FileBytes damaged = packed;
    damaged[at] ^= std::byte{0xff};
    unpack_dtl_entries(damaged, first(100));
  }
  std::mt19937_64 random(9);
  for (int i = 0; i < 200; i++) {
    FileBytes noise(random() % 300);
    for (std::byte& byte : noise) byte = static_cast<std::byte>(random() | random());
    unpack_dtl_entries(noise, first(random() % 100));
  }
}

TEST_CASE("the checksum matches RFC 3720, appendix B.4") {
  CHECK(crc32c(FileBytes(32)) == 0x8a9136aa);
  CHECK(crc32c(FileBytes(32, std::byte{0xff})) == 0x62a8ab43);
}

TEST_CASE("a written file can be read") {
  const File file;
  file.write(whole_file());
  DtlReader reader(InputFile::open(file.path));
  const Contents contents = read_all(reader);
  CHECK(contents.blocks == 3);
  CHECK(contents.entries == 350);
  CHECK(reader.entries() == 350);
  CHECK(reader.clock().boot_timebase == 7);
  CHECK(reader.clock().ticks_per_second == 512'000'000);
  CHECK(reader.start_text() == "event all\n");
  REQUIRE(reader.end());
  CHECK(reader.end()->status == 0);
  CHECK(reader.end()->text.empty());
  CHECK(reader.damaged_bytes() == 0);
}

TEST_CASE("the end of a recording has a status and a text") {
  const FileBytes block = make_dtl_end_block({.status = 3, .text = "two\nlines\n"});
  const std::span payload = std::span(block).subspan(kDtlHeaderBytes);
  CHECK(std::ranges::equal(payload, bytes_of("status 3\ntwo\nlines\n")));
  const DtlEnd end = parse_dtl_end(payload);
  CHECK(end.status == 3);
  CHECK(end.text == "two\nlines\n");
}

TEST_CASE("an end without a valid status has none") {
  for (const char* text : {"", "status 0", "status\n", "status x\n", "status 0 \n", "state 0\n"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_dtl_end(bytes_of(text)).status);
  }
  CHECK(parse_dtl_end(bytes_of("nothing\ntext\n")).text == "text\n");
}

TEST_CASE("a reader can select CPUs and times") {
  const File file;
  file.write(whole_file());
  DtlReader reader(InputFile::open(file.path));
  CHECK(read_all(reader, {.cpus = {65535}, .from_ns = {}, .to_ns = {}}).entries == 200);
  const auto entries = plausible(100, 1);
  DtlReader again(InputFile::open(file.path));
  const DtlClock clock{.boot_timebase = 7, .ticks_per_second = 512'000'000};
  const auto time = clock.nanoseconds(entries[10].timebase);
  const Contents slice = read_all(again, {.cpus = {0}, .from_ns = time, .to_ns = time});
  CHECK(slice.entries >= 1);
  CHECK(slice.entries <= 2);
  CHECK(again.entries() == 350);
}

TEST_CASE("a truncated file gives all complete blocks") {
  const FileBytes whole = whole_file();
  const File file;
  for (size_t length = 50; length < whole.size(); length += 37) {
    CAPTURE(length);
    file.write(FileBytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)));
    DtlReader reader(InputFile::open(file.path));
    const Contents contents = read_all(reader);
    CHECK(contents.entries <= 350);
    CHECK(contents.blocks <= 3);
    CHECK_FALSE(reader.end());
  }
}

TEST_CASE("damage affects only the block that it hits") {
  const FileBytes whole = whole_file();
  const size_t begin = kDtlHeaderBytes + 10;  // after the first block
  const File file;
  for (size_t at = begin; at < whole.size(); at += 101) {
    CAPTURE(at);
    FileBytes bytes = whole;
    bytes[at] ^= std::byte{0x40};
    file.write(bytes);
    DtlReader reader(InputFile::open(file.path));
    const Contents contents = read_all(reader);
    CHECK(contents.entries >= 150);
    CHECK(reader.damaged_bytes() != 0);
    CHECK(reader.first_damage() <= at);
  }
}

TEST_CASE("missing bytes affect only the block that held them") {
  FileBytes bytes = whole_file();
  // In the first block of entries, after start and clock.
  const auto at = bytes.begin() + 2 * kDtlHeaderBytes + 10 + 40 + kDtlHeaderBytes + 50;
  bytes.erase(at, at + 100);
  const File file;
  file.write(bytes);
  DtlReader reader(InputFile::open(file.path));
  CHECK(read_all(reader).entries == 250);
  CHECK(reader.end());
  CHECK(reader.first_damage() == 2 * kDtlHeaderBytes + 10 + 40);
}

TEST_CASE("another kind of file is rejected as a recording") {
  const File file;
  file.write(FileBytes(1000, std::byte{'x'}));
  CHECK_THROWS_AS(DtlReader(InputFile::open(file.path)), Error);
  file.write({});
  CHECK_THROWS_AS(DtlReader(InputFile::open(file.path)), Error);
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
// Imports perf.data files with vpa_dtl events, as perf writes them with mainline's driver. The
// import reads all entries that perf recorded, reports perf's losses, and is safe on damaged files.
#include "cli/dispatches/import.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/dispatch_log/blocks.h"
#include "core/dispatch_log/task_names.h"
#include "output/recording/dispatches.h"
#include "tests/generator/perf_data_file.h"
#include "tests/unit/dispatch_log/vpa_driver.h"
#include "tests/unit/message_of.h"
#include "tests/unit/rounds.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {
namespace {

using generator::PerfDataFile;
using FileBytes = std::vector<std::byte>;

constexpr bool kBigEndianHost = std::endian::native == std::endian::big;

// The vpa_dtl event of each CPU, with its driver. perf reads the events one after the other.
class PerfRecord {
 public:
  PerfRecord(std::vector<uint32_t> cpus, size_t aux_bytes, PerfDataFile::Wishes wishes)
      : wishes_(wishes), file_(events_of(cpus), wishes) {
    for (size_t i = 0; i < cpus.size(); i++) drivers_.emplace_back(aux_bytes);
    taken_.resize(cpus.size());
  }

  VpaDriver& driver(size_t event) { return drivers_[event]; }
  PerfDataFile& file() { return file_; }

  void poll(size_t event, uint64_t count) {
    auto& page = drivers_[event].ring().page();
    const uint64_t before = page.aux_head;
    drivers_[event].poll(count);
    if (page.aux_head != before) file_.aux(event, before, page.aux_head - before, 0);
    page.data_tail = page.data_head;
  }

  // Reads as perf does: from an overrun area, the byte count modulo the size of the area.
  void read(size_t event) {
    PlainRing& ring = drivers_[event].ring();
    const size_t size = ring.aux_room() + (ring.page().aux_head - ring.page().aux_tail);
    uint64_t length = ring.page().aux_head - ring.page().aux_tail;
    if (length == 0) return;
    if (length > size) length = length % size == 0 ? size : length % size;
    ring.page().aux_tail = ring.page().aux_head - length;
    const AuxBytes bytes = ring.aux().peek();
    FileBytes chunk(bytes.first.begin(), bytes.first.end());
    chunk.insert(chunk.end(), bytes.second.begin(), bytes.second.end());
    const bool header = ring.page().aux_tail == 0 && wishes_.big_endian != kBigEndianHost;
    if (header && chunk.size() >= 16) {
      std::reverse(chunk.begin(), chunk.begin() + 8);
      std::reverse(chunk.begin() + 8, chunk.begin() + 16);
    }
    file_.auxtrace(event, ring.page().aux_tail, chunk);
    ring.page().aux_tail = ring.page().aux_head;
  }

 private:
  static std::vector<PerfDataFile::Event> events_of(const std::vector<uint32_t>& cpus) {
    std::vector<PerfDataFile::Event> events;
    events.reserve(cpus.size() + 1);
    for (const uint32_t cpu : cpus) {
      events.push_back(
          {.config = 7, .cpu = cpu, .pmu = generator::kDtlPmu, .name = "vpa_dtl/dtl_all/"});
    }
    events.push_back({.config = 9, .pmu = 1, .name = "dummy:u"});  // perf adds this event
    return events;
  }

  PerfDataFile::Wishes wishes_;
  PerfDataFile file_;
  std::vector<VpaDriver> drivers_;
  std::vector<uint64_t> taken_;
};

struct Imported {
  std::map<int, std::vector<uint64_t>> numbers;  // of the entries, starting at 0
  std::map<int, std::vector<DtlTask>> tasks;     // the task of each entry
  DtlTaskNames names;
  DtlEnd end;
  DtlClock clock;
};

class Importer {
 public:
  Imported read(const FileBytes& file) {
    const auto path = folder_.path() / "perf.data";
    ScratchFile recording;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(file.data()),
               static_cast<std::streamsize>(file.size()));
    import_perf_recording(path, recording);
    Imported imported;
    DtlReader reader(InputFile::open(recording.path()));
    DtlReader::Wanted wanted;
    wanted.tasks = true;
    std::map<int, DtlTaskTrack> tracks;
    while (const auto block = reader.next(wanted)) {
      imported.names.set_lines(block->names);
      if (block->switches != nullptr) tracks[block->cpu].append(*block->switches);
      for (const DtlEntry& entry : block->entries) {
        imported.numbers[block->cpu].push_back(entry.timebase - VpaDriver::kBoot - 1);
        const uint64_t ns = reader.clock().nanoseconds(entry.timebase).value_or(0);
        imported.tasks[block->cpu].push_back(tracks[block->cpu].at(ns));
      }
    }
    REQUIRE(reader.end());
    CHECK(reader.damaged_bytes() == 0);
    imported.end = *reader.end();
    imported.clock = reader.clock();
    return imported;
  }

 private:
  TemporaryFolder folder_;
};

bool in_order(const std::vector<uint64_t>& numbers) {
  return std::ranges::adjacent_find(numbers, std::greater_equal()) == numbers.end();
}

bool tells(const Imported& imported, const std::string& text) {
  CAPTURE(imported.end.text);
  const bool there = imported.end.text.find(text) != std::string::npos;
  CHECK_MESSAGE(there, text);
  return there;
}

// A small recording of two CPUs whose areas wrapped.
FileBytes small_recording(PerfDataFile::Wishes wishes = {.dispatches = true}) {
  PerfRecord perf({0, 3}, 8192, wishes);
  for (int i = 0; i < 10; i++) {
    for (const size_t event : {0, 1}) perf.poll(event, 30 + event);
    if (i % 3 == 0) perf.read(0);
    perf.read(1);
  }
  perf.read(0);
  return perf.file().finish();
}

}  // namespace

TEST_CASE("each entry of perf's recording is read once, from machines of either byte order") {
  Importer importer;
  for (const bool big_endian : {false, true}) {
    CAPTURE(big_endian);
    PerfRecord perf({0, 3}, 1 << 16, {.big_endian = big_endian, .dispatches = true});
    for (const uint64_t count : {1, 83, 3, 0, 50, 2}) {
      perf.poll(0, count);
      perf.poll(1, 83 - count);
      perf.read(1);
    }
    perf.read(0);
    const Imported imported = importer.read(perf.file().finish());
    CHECK(imported.clock.boot_timebase == VpaDriver::kBoot);
    CHECK(imported.clock.ticks_per_second == VpaDriver::kTicks);
    REQUIRE(imported.numbers.size() == 2);
    CHECK(imported.numbers.at(0).size() == 139);
    CHECK(imported.numbers.at(3).size() == 6 * 83 - 139);
    for (const auto& [cpu, numbers] : imported.numbers) {
      CHECK(in_order(numbers));
      CHECK(numbers.back() == numbers.size() - 1);
    }
    CHECK(imported.end.status == 0);
    tells(imported, "not provable, perf does not record");
  }
}

TEST_CASE("perf's context switches name the tasks, and after its losses tasks are unknown") {
  Importer importer;
  constexpr DtlTask kFirst{.pid = 10, .tid = 11}, kSecond{.pid = 20, .tid = 20};
  for (const bool big_endian : {false, true}) {
    CAPTURE(big_endian);
    PerfRecord perf({0, 3}, 1 << 16, {.big_endian = big_endian, .dispatches = true});
    perf.file().named(kFirst.key(), "first one");
    perf.file().switched(0, 60, kFirst.key(), kSecond.key());
    for (int i = 0; i < 3; i++) {
      for (const size_t event : {0, 1}) perf.poll(event, 80);
      perf.read(0);
      perf.read(1);
    }
    perf.file().switched(0, 120, kSecond.key(), 0);
    perf.file().lost(7);  // of CPU 0
    perf.file().switched(0, 300, kSecond.key(), kFirst.key());
    const Imported imported = importer.read(perf.file().finish());
    CHECK(imported.names.of(kFirst) == "first one");
    REQUIRE(imported.numbers.at(0).size() == 240);
    for (size_t i = 0; i < 240; i++) {
      const uint64_t ns = (i + 1) * 1000 / 512;
      const DtlTask there = ns < 60    ? kFirst
                            : ns < 120 ? kSecond
                            : ns < 121 ? kIdleTask
                            : ns < 300 ? DtlTask{}
                                       : kFirst;
      CAPTURE(ns);
      REQUIRE(imported.tasks.at(0)[i] == there);
      REQUIRE(imported.tasks.at(3)[i] == DtlTask{});
    }
  }
}

TEST_CASE("when the area wraps, no entry is duplicated or stale, and losses are named") {
  Importer importer;
  for (const size_t aux_bytes : {8192, 131072}) {
    for (const uint64_t step : {1, 2, 7, 31, 83}) {
      CAPTURE(aux_bytes);
      CAPTURE(step);
      PerfRecord perf({5}, aux_bytes, {.dispatches = true});
      while (perf.driver(0).ring().page().aux_head < 3 * aux_bytes + 100) {
        perf.poll(0, step);
        if (perf.driver(0).ring().aux_room() < aux_bytes / 2) perf.read(0);
      }
      perf.read(0);
      const Imported imported = importer.read(perf.file().finish());
      const auto& numbers = imported.numbers.at(5);
      CHECK(in_order(numbers));
      const uint64_t missing = perf.driver(0).written() - numbers.size();
      CHECK(missing >= 3);
      CHECK(missing <= uint64_t{3} * 2 * 84);
      CHECK(imported.end.status == 3);
      tells(imported, "504 entries (CPU 5: at most: the AUX area wrapped 3 times");
    }
  }
}

TEST_CASE("a full log, and an area that perf read too late, are reported") {
  Importer importer;
  PerfRecord perf({0}, 16384, {.dispatches = true});
  perf.poll(0, 300);
  perf.read(0);
  for (int i = 0; i < 12; i++) perf.poll(0, 60);
  REQUIRE(perf.driver(0).off());
  perf.read(0);
  const Imported imported = importer.read(perf.file().finish());
  CHECK(in_order(imported.numbers.at(0)));
  tells(imported, "the log was full once");
  tells(imported, "the kernel disabled the event");
}

TEST_CASE("an unfinished file, and a file without names, are read") {
  Importer importer;
  const Imported whole = importer.read(small_recording());
  const Imported unfinished =
      importer.read(small_recording({.unfinished = true, .dispatches = true}));
  CHECK(unfinished.numbers == whole.numbers);
  tells(unfinished, "perf did not finish the file: its end may be missing");
  CHECK(importer.read(small_recording({.names = false, .dispatches = true})).numbers ==
        whole.numbers);
}

TEST_CASE("records for which perf had no room are reported") {
  Importer importer;
  PerfRecord perf({0}, 8192, {.dispatches = true});
  perf.poll(0, 5);
  perf.read(0);
  perf.file().lost(7);
  tells(importer.read(perf.file().finish()), "7 records (perf.data: perf's buffer was full");
}

TEST_CASE("a piece at an impossible position loses only itself, and takes no time") {
  Importer importer;
  for (const uint64_t far : {uint64_t{1} << 62, uint64_t{1} << 40, uint64_t{1} << 30}) {
    CAPTURE(far);
    PerfRecord perf({5}, 8192, {.dispatches = true});
    for (int i = 0; i < 5; i++) {
      for (int poll = 0; poll < 2; poll++) perf.poll(0, 60);
      if (i == 3) perf.file().auxtrace(0, far, FileBytes(480));
      perf.read(0);
    }
    const Imported imported = importer.read(perf.file().finish());
    CHECK(imported.numbers.at(5).size() > 300);
    CHECK(in_order(imported.numbers.at(5)));
    tells(imported, "480 bytes (CPU 5: AUX data has an impossible position)");
    CHECK(imported.end.text.find("overrun") == std::string::npos);
  }
}

TEST_CASE("files without a dispatch trace log, and other files, are rejected") {
  Importer importer;
  PerfDataFile htm({{.config = 0x400002, .cpu = 8}}, {});
  CHECK(message_of([&] {
          importer.read(htm.finish());
        }).ends_with("the file has no event of the PMU vpa_dtl"));
  CHECK(message_of([&] { importer.read(FileBytes(200)); }).ends_with("not a perf.data file"));
}

TEST_CASE("a dispatch trace log is recognized by its first bytes, or by perf's events") {
  const TemporaryFolder folder;
  const auto is_log = [&folder](const FileBytes& file) {
    folder.write("file", std::string(reinterpret_cast<const char*>(file.data()), file.size()));
    return is_dispatch_log(folder.path() / "file");
  };
  CHECK(is_log(make_dtl_text_block(DtlBlockKind::kStart, "x")));
  for (const bool big_endian : {false, true}) {
    CHECK(is_log(small_recording({.big_endian = big_endian, .dispatches = true})));
    CHECK(is_log(
        small_recording({.big_endian = big_endian, .unfinished = true, .dispatches = true})));
  }
  CHECK_FALSE(is_log(PerfDataFile({{.config = 0x400002, .cpu = 8}}, {}).finish()));
  CHECK_FALSE(
      is_log(PerfDataFile({{.config = 0x400002, .cpu = 8}}, {.unfinished = true}).finish()));
  CHECK_FALSE(is_log({}));
  CHECK_FALSE(is_log(FileBytes(200)));
  FileBytes cut = small_recording();
  cut.resize(50);
  CHECK_FALSE(is_log(cut));
  CHECK_FALSE(is_dispatch_log(folder.path()));
  CHECK_THROWS_AS(is_dispatch_log(folder.path() / "none"), Error);
}

TEST_CASE("damage anywhere gives an error or readable entries in order, and never a crash") {
  Importer importer;
  const FileBytes whole = small_recording();
  std::mt19937 random(5);
  for (unsigned i = 0; i < rounds(200); i++) {
    FileBytes damaged = whole;
    if (i % 4 == 0) {
      damaged.resize(random() % damaged.size());
    } else {
      // Most of the file are entries, which may hold any value. Damage the preceding headers more
      // often.
      const size_t most = i % 2 == 0 ? damaged.size() : 600;
      for (unsigned bytes = 1 + random() % 4; bytes > 0; bytes--) {
        damaged[random() % most] = static_cast<std::byte>(random());
      }
    }
    try {
      const Imported imported = importer.read(damaged);
      for (const auto& [cpu, numbers] : imported.numbers) CHECK(numbers.size() <= 1000);
    } catch (const Error& error) {
      CHECK(std::string(error.what()).starts_with("cannot read "));
    }
  }
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
// perf.data files. Their layout: tools/perf/Documentation/perf.data-file-format.txt of Linux.
#include <string>

#include "tests/bombs/bomb.h"
#include "tests/generator/perf_data_file.h"

namespace htmtrace::bombs {
namespace {

using generator::PerfDataFile;

constexpr uint64_t kHeaderBytes = 104;
constexpr uint64_t kAttrBytes = 112;
constexpr uint64_t kSampleType = 0x10487;  // IDENTIFIER, IP, TID, TIME, CPU, RAW
constexpr uint64_t kSampleIdAll = 1 << 18;
constexpr uint32_t kAux = 11;
constexpr uint32_t kAuxtrace = 71;

struct Extent {
  uint64_t offset = 0, size_bytes = 0;
};

void put_header(File& file, Extent attrs, Extent data) {
  file.put("PERFILE2");
  for (const uint64_t value : {kHeaderBytes, kAttrBytes + 16, attrs.offset, attrs.size_bytes,
                               data.offset, data.size_bytes}) {
    file.le(value, 8);
  }
  for (int i = 0; i < 6; i++) file.le(0, 8);  // event types and features
}

void put_attr(File& file, uint64_t config, Extent ids) {
  file.le(generator::kHtmPmu, 4);
  file.le(kAttrBytes, 4);
  for (const uint64_t value : {config, uint64_t{1}, kSampleType, uint64_t{0}, kSampleIdAll}) {
    file.le(value, 8);
  }
  for (uint64_t at = 48; at < kAttrBytes; at += 8) file.le(0, 8);
  file.le(ids.offset, 8);
  file.le(ids.size_bytes, 8);
}

// 2 MB: each of 10 000 events shares the same list of ids.
void shared_ids(unsigned) {
  constexpr uint64_t kEvents = 10'000, kIdBytes = 700'000;
  File file("perf.data");
  const Extent attrs{kHeaderBytes, kEvents * (kAttrBytes + 16)};
  const uint64_t end = attrs.offset + attrs.size_bytes;
  put_header(file, attrs, {end + kIdBytes, 0});
  for (uint64_t i = 0; i < kEvents; i++) put_attr(file, 2, {end, kIdBytes});
  for (uint64_t i = 0; i < kIdBytes; i += 8) file.le(i, 8);
}

// The identifier of each record is searched among a million ids.
void searched_ids(unsigned) {
  constexpr uint64_t kIdBytes = 4'000'000, kRecords = 50'000, kRecordBytes = 64;
  File file("perf.data");
  const Extent attrs{kHeaderBytes, 2 * (kAttrBytes + 16)};
  const uint64_t end = attrs.offset + attrs.size_bytes;
  put_header(file, attrs, {end + 2 * kIdBytes, kRecords * kRecordBytes});
  for (uint64_t i = 0; i < 2; i++) put_attr(file, 2, {end + i * kIdBytes, kIdBytes});
  for (uint64_t i = 0; i < 2 * kIdBytes; i += 8) file.le(i, 8);
  for (uint64_t i = 0; i < kRecords; i++) {
    file.le(kAux, 4);
    file.le(0, 2);
    file.le(kRecordBytes, 2);
    for (uint64_t at = 8; at < kRecordBytes; at += 8) file.le(~uint64_t{0}, 8);
  }
}

void put_record(PerfDataFile& file, uint32_t type, std::initializer_list<uint64_t> words) {
  std::vector<std::byte> body;
  for (const uint64_t word : words) {
    for (unsigned i = 0; i < 8; i++) body.push_back(static_cast<std::byte>(word >> 8 * i));
  }
  file.record(type, body);
}

void finish(const PerfDataFile& file) {
  File("perf.data").put(file.finish());
}

// Each record is of another CPU.
void many_cpus(bool dispatches, unsigned scale) {
  PerfDataFile file({{.config = 2,
                      .pmu = dispatches ? generator::kDtlPmu : generator::kHtmPmu,
                      .name = dispatches ? "vpa_dtl/dtl_all/" : "htm/htm_core/"}},
                    {.dispatches = dispatches});
  for (uint64_t cpu = 0; cpu < uint64_t{60'000} * scale; cpu++) {
    put_record(file, kAux, {0, 0, 0, 0, 1000, cpu, 100});
    put_record(file, kAuxtrace, {0, 0, 0, 0, cpu});
  }
  finish(file);
}

void traces_of_cpus(unsigned scale) {
  many_cpus(false, scale);
}

void dispatches_of_cpus(unsigned scale) {
  many_cpus(true, scale);
}

// Each record that the kernel lost concerns all CPUs.
void lost_records(unsigned) {
  PerfDataFile file({{.config = 1, .pmu = generator::kDtlPmu, .name = "vpa_dtl/dtl_all/"},
                     {.config = 1, .pmu = generator::kDtlPmu, .name = "vpa_dtl/dtl_all/"}},
                    {.dispatches = true});
  constexpr uint32_t kSwitch = 15, kLost = 2;
  for (uint64_t cpu = 0; cpu < 65'536; cpu++) put_record(file, kSwitch, {1, 2, 1000, cpu, 100});
  for (int i = 0; i < 200'000; i++) put_record(file, kLost, {1, 1, 0});
  finish(file);
}

// Each AUX record names the same block of a memory map, which lies in pieces of eight bytes.
void pieces_of_map(unsigned) {
  constexpr uint64_t kEntries = 2000;
  PerfDataFile file({{.config = 2}}, {});
  std::vector<std::byte> block(32 + 32 * kEntries);
  block.at(22) = static_cast<std::byte>(kEntries >> 8);
  block.at(23) = static_cast<std::byte>(kEntries & 0xff);
  for (size_t at = 0; at < block.size(); at += 8) {
    file.auxtrace(0, at, std::span(block).subspan(at, 8));
  }
  for (int i = 0; i < 50'000; i++) file.aux(0, 0, block.size(), 0);
  const std::vector<std::byte> no_dumps(4);
  file.sample(0, no_dumps);
  finish(file);
}

}  // namespace

std::vector<Bomb> perf_data_bombs() {
  using enum Outcome;
  return {
      {"perf-shared-ids", kEither, shared_ids, {"decode", "-q", "perf.data"}},
      {"perf-searched-ids", kEither, searched_ids, {"decode", "-q", "perf.data"}},
      {"perf-cpus", kEither, traces_of_cpus, {"decode", "-q", "perf.data"}},
      {"perf-cpus-dtl", kEither, dispatches_of_cpus, {"dtl", "--summary", "--input", "perf.data"}},
      {"perf-lost", kEither, lost_records, {"dtl", "--summary", "--input", "perf.data"}},
      {"perf-map-pieces", kEither, pieces_of_map, {"decode", "-q", "perf.data"}},
  };
}

}  // namespace htmtrace::bombs

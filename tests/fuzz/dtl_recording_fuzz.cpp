// SPDX-License-Identifier: GPL-2.0-or-later
// Reads any bytes as a recording of the dispatch trace log, and as packed entries and statistics,
// because checksums would hide most bytes. Unpacked data must be equal after packing and unpacking.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/dispatch_log/codec.h"
#include "core/dispatch_log/task_names.h"
#include "core/dispatch_log/tasks.h"
#include "output/recording/dispatches.h"
#include "tests/fuzz/memory_file.h"

namespace {

using namespace htmtrace;

std::vector<std::byte> log_bytes(std::span<const DtlEntry> entries) {
  std::vector<std::byte> bytes(entries.size() * kDtlEntryBytes);
  for (size_t i = 0; i < entries.size(); i++) {
    store_dtl_entry(bytes.data() + i * kDtlEntryBytes, entries[i]);
  }
  return bytes;
}

void unpack(std::span<const std::byte> packed, size_t count) {
  std::vector<DtlEntry> entries(count), again(count);
  if (!unpack_dtl_entries(packed, entries)) return;
  std::vector<std::byte> repacked;
  pack_dtl_entries(entries, repacked);
  if (!unpack_dtl_entries(repacked, again) || log_bytes(entries) != log_bytes(again)) std::abort();
}

void read_file(const uint8_t* data, size_t size) {
  const std::string path = path_of(data, size);
  for (const auto use :
       {DtlStatisticsUse::kNone, DtlStatisticsUse::kTrust, DtlStatisticsUse::kCheck}) {
    try {
      DtlReader reader(InputFile::open(path), use);
      DtlAnalysis analysis;
      DtlPlaces places;
      uint64_t entries = 0;
      DtlReader::Wanted wanted;
      wanted.tasks = use == DtlStatisticsUse::kNone;
      DtlTaskTrack track;
      DtlTaskNames names;
      while (const auto block = reader.next(wanted)) {
        if (block->switches != nullptr) track.append(*block->switches);
        names.set_lines(block->names);
        for (const DtlEntry& entry : block->entries) track.at(entry.timebase);
        entries += block->entries.size();
        if (block->statistics == nullptr) continue;
        entries += block->statistics->entries();
        block->statistics->append_to(analysis, block->cpu, places);
      }
      if (entries != reader.entries() || reader.damaged_bytes() > size) std::abort();
    } catch (const Error&) {
      return;  // rejected as not a recording
    }
  }
}

void unpack_statistics(std::span<const std::byte> packed) {
  DtlStatistics statistics;
  if (!statistics.unpack(packed)) return;
  std::vector<std::byte> repacked, again;
  statistics.pack(repacked);
  if (!statistics.unpack(repacked)) std::abort();
  statistics.pack(again);
  if (again != repacked) std::abort();
}

void unpack_switches(std::span<const std::byte> packed) {
  if (packed.size() < 2 * sizeof(uint64_t)) return;
  DtlBlockHeader header{.entries = std::to_integer<uint32_t>(packed[0]) << 4};
  std::memcpy(&header.first_timebase, packed.data(), sizeof(uint32_t));
  std::memcpy(&header.last_timebase, packed.data() + 1, sizeof(uint64_t));
  DtlSwitches part, again;
  if (!parse_dtl_switches(header, packed.subspan(2 * sizeof(uint64_t)), part)) return;
  const auto block = make_dtl_switches_block(1, part.switches, part.until_ns);
  const auto read = parse_dtl_header(block);
  const auto payload = std::span<const std::byte>(block).subspan(kDtlHeaderBytes);
  if (!read || !parse_dtl_switches(*read, payload, again) || again.switches != part.switches) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  read_file(data, size);
  if (size < 2) return 0;
  const auto bytes = std::as_bytes(std::span(data, size));
  unpack(bytes.subspan(2), (data[0] | data[1] << 8) % (htmtrace::kMostDtlEntries + 1));
  unpack_statistics(bytes);
  unpack_switches(bytes);
  return 0;
}

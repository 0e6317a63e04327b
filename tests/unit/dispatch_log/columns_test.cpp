// SPDX-License-Identifier: GPL-2.0-or-later
// Compares the columns of a block with its entries.
#include "core/dispatch_log/columns.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "core/dispatch_log/analysis.h"
#include "core/dispatch_log/codec.h"

namespace htmtrace {
namespace {

// Random entries, not in the order of their timebases.
std::vector<DtlEntry> any_entries(size_t count, std::mt19937_64& random) {
  std::vector<DtlEntry> entries(count);
  for (DtlEntry& entry : entries) {
    entry = {.dispatch_reason = static_cast<uint8_t>(random()),
             .preempt_reason = static_cast<uint8_t>(random() >> random() % 64),
             .processor_id = static_cast<uint16_t>(random()),
             .enqueue_to_dispatch = static_cast<uint32_t>(random()),
             .ready_to_enqueue = static_cast<uint32_t>(random()),
             .waiting_to_ready = static_cast<uint32_t>(random()),
             .timebase = random(),
             .fault_address = random(),
             .srr0 = random(),
             .srr1 = random()};
  }
  return entries;
}

using Log = std::vector<std::array<std::byte, kDtlEntryBytes>>;

Log log_of(const std::vector<DtlEntry>& entries) {
  Log log(entries.size());
  for (size_t i = 0; i < log.size(); i++) store_dtl_entry(log[i].data(), entries[i]);
  return log;
}

void check_same(const DtlColumns& columns, const std::vector<DtlEntry>& entries) {
  REQUIRE(columns.size == entries.size());
  std::vector<DtlEntry> copies(entries.size());
  columns.copy_to(copies);
  CHECK(log_of(copies) == log_of(entries));
}

}  // namespace

TEST_CASE("columns keep all fields and the order of the entries, also after packing") {
  std::mt19937_64 random(1);
  DtlColumns columns, unpacked;
  for (const size_t count : std::array<size_t, 12>{0, 1, 2, 3, 4, 5, 7, 8, 63, 1000, 4093, 4096}) {
    CAPTURE(count);
    const auto entries = any_entries(count, random);
    const DtlTimes times = columns.assign(entries);
    check_same(columns, entries);
    std::vector<std::byte> packed;
    pack_dtl_entries(entries, packed);
    REQUIRE(unpack_dtl_entries(packed, count, unpacked));
    check_same(unpacked, entries);
    if (count == 0) continue;
    const auto extremes = std::ranges::minmax(entries, {}, &DtlEntry::timebase);
    CHECK(times.lowest == extremes.min.timebase);
    CHECK(times.highest == extremes.max.timebase);
  }
}

TEST_CASE("the entries of a group follow each other in the columns with groups") {
  std::mt19937_64 random(2);
  const auto entries = any_entries(4096, random);
  const DtlColumns columns(entries);
  size_t group = 0, place = 0;
  for (const DtlGroups::Group& each : columns.groups.all()) {
    CHECK(each.begin == place);
    for (const DtlEntry& entry : entries) {
      if (std::min<size_t>(entry.preempt_reason, DtlGroups::kGroups - 1) != group) continue;
      REQUIRE(columns.srr0[place] == entry.srr0);
      place++;
    }
    CHECK(each.begin + each.count == place);
    group++;
  }
  CHECK(place == entries.size());
}

TEST_CASE("the analysis of columns counts each reason, and keeps the first and the last timebase") {
  std::mt19937_64 random(3);
  for (const size_t count : {size_t{10}, size_t{4096}}) {
    const auto entries = any_entries(count, random);
    DtlReasons reasons;
    for (const DtlEntry& entry : entries) {
      reasons.dispatch[entry.dispatch_reason]++;
      reasons.preempt[entry.preempt_reason]++;
    }
    DtlAnalysis analysis;
    DtlPlaces places;
    analysis.add(DtlColumns(entries), 0, 0, places);
    CHECK(analysis.reasons().dispatch == reasons.dispatch);
    CHECK(analysis.reasons().preempt == reasons.preempt);
    CHECK(analysis.first() == entries.front().timebase);
    CHECK(analysis.last() == entries.back().timebase);
  }
}

}  // namespace htmtrace

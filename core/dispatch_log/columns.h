// SPDX-License-Identifier: GPL-2.0-or-later
// A block of dispatch trace log entries with one column for each field or pair of fields. The
// packed form of a block has the same columns, and the analysis reads each field of many entries
// without gaps.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/dispatch_log/entry.h"

namespace htmtrace {

// The maximum number of entries in a block.
inline constexpr size_t kMostDtlEntries = 4096;

// Waiting times and stop addresses depend on the preempt reason. Entries with the same preempt
// reason therefore have separate columns for these fields, in one array: each group of entries
// follows the preceding group. Reasons from kGroups - 1 on share a group.
class DtlGroups {
 public:
  static constexpr size_t kGroups = 16;

  // The positions of a group's entries in the columns with groups.
  struct Group {
    size_t begin = 0, count = 0;
  };

  // preempt_reason_of(i) returns the preempt reason of entry i.
  template <class PreemptReasonOf>
  void assign(size_t entries, const PreemptReasonOf& preempt_reason_of);

  // Calls visit(i, place) for each entry i in order. The entry has the index `place` in columns
  // with groups.
  template <class Visit>
  void visit(const Visit& visit) const {
    for (size_t part = 0, i = 0; part < kParts; part++) {
      const auto& begins = begins_[part];
      for (const size_t end = std::min(entries_, i + part_); i < end; i++) {
        visit(i, begins[ranks_[i] % kGroups] + ranks_[i] / kGroups);
      }
    }
  }

  const std::array<Group, kGroups>& all() const { return groups_; }

 private:
  static constexpr size_t kParts = 4;

  size_t part_ = 0, entries_ = 0;
  std::array<Group, kGroups> groups_;
  std::array<std::array<size_t, kGroups>, kParts> begins_;
  // For each entry: kGroups * the number of preceding entries of its group in its part + the group.
  std::array<uint16_t, kMostDtlEntries> ranks_;
  static_assert(kMostDtlEntries / kParts * kGroups <= UINT16_MAX + 1);
};

template <class PreemptReasonOf>
void DtlGroups::assign(size_t entries, const PreemptReasonOf& preempt_reason_of) {
  entries_ = entries;
  part_ = (entries + kParts - 1) / kParts;
  // Entries of the same group often follow each other, and each increment of a counter waits for
  // the preceding increment. The parts have separate counters, so these waits overlap.
  std::array<std::array<uint16_t, kGroups>, kParts> counts{};
  const auto rank = [&](size_t part, size_t entry) {
    const size_t group = std::min<size_t>(preempt_reason_of(entry), kGroups - 1);
    ranks_[entry] = static_cast<uint16_t>(counts[part][group]++ * kGroups + group);
  };
  size_t i = 0;
  for (; i + (kParts - 1) * part_ < entries; i++) {
    for (size_t part = 0; part < kParts; part++) rank(part, i + part * part_);
  }
  for (; i < part_; i++) {
    for (size_t part = 0; part < kParts && i + part * part_ < entries; part++) {
      rank(part, i + part * part_);
    }
  }
  size_t begin = 0;
  for (size_t group = 0; group < kGroups; group++) {
    groups_[group].begin = begin;
    for (size_t part = 0; part < kParts; part++) {
      begins_[part][group] = begin;
      begin += counts[part][group];
    }
    groups_[group].count = begin - groups_[group].begin;
  }
}

// The lowest and the highest timebase of a block. Its entries are in the order of their timebases,
// unless the driver copied an entry while the hypervisor overwrote it.
struct DtlTimes {
  uint64_t lowest = UINT64_MAX, highest = 0;

  void add(uint64_t timebase) {
    lowest = std::min(lowest, timebase);
    highest = std::max(highest, timebase);
  }
};

// A large object: about 300 KiB. The constructor leaves the columns uninitialized.
struct DtlColumns {
  // The code uses several columns together. With lengths in multiples of 4096 bytes, equal indexes
  // of all columns would compete for the same cache lines.
  using Column = std::array<uint64_t, kMostDtlEntries + 24>;

  DtlColumns() = default;
  explicit DtlColumns(std::span<const DtlEntry> entries) { assign(entries); }

  // Accepts up to kMostDtlEntries entries. Returns their times.
  DtlTimes assign(std::span<const DtlEntry> entries);
  // Fills `to`, which has room for all entries.
  void copy_to(std::span<DtlEntry> to) const;

  // The numbers of all entries in a column, or of the entries of a group.
  std::span<uint64_t> of(Column& column) const { return std::span(column).first(size); }
  std::span<const uint64_t> of(const Column& column) const { return std::span(column).first(size); }
  template <class AnyColumn>
  static auto of(AnyColumn& column, const DtlGroups::Group& group) {
    return std::span(column).subspan(group.begin, group.count);
  }

  // The fields of an entry have fewer bits than the numbers of a column. A damaged file may have
  // larger numbers, whose upper bits have no meaning.
  uint16_t processor_of(size_t i) const { return static_cast<uint16_t>(processor[i]); }
  uint8_t dispatch_reason_of(size_t i) const { return static_cast<uint8_t>(reasons[i] >> 8); }
  uint8_t preempt_reason_of(size_t i) const { return static_cast<uint8_t>(reasons[i]); }
  static uint32_t ticks(uint64_t number) { return static_cast<uint32_t>(number); }

  size_t size = 0;
  // The timebase of an entry minus the timebase of the preceding entry; 0 precedes the first.
  Column since;
  Column processor, srr1;
  Column reasons;  // dispatch reason << 8 | preempt reason
  // Columns with groups.
  Column enqueue_to_dispatch, ready_to_enqueue, waiting_to_ready, srr0, fault_address;
  DtlGroups groups;
};

}  // namespace htmtrace

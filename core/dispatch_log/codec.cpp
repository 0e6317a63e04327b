// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/dispatch_log/codec.h"

#include <algorithm>
#include <array>

#include "core/base/packed_numbers.h"

namespace htmtrace {
namespace {

// Waiting times and stop addresses depend on the preempt reason. Entries with the same preempt
// reason therefore have separate columns for these fields. Reasons from kGroups - 1 on share a
// group.
constexpr size_t kGroups = 16;

// The numbers of columns with hints: of all entries, and of each group.
constexpr size_t kHintsOfAll = 3;
constexpr size_t kHintsOfGroup = 2;
static_assert(kHintsOfAll + kHintsOfGroup * kGroups == DtlPackHints::kColumns);

size_t group_of(uint64_t reasons) {
  return std::min<size_t>(reasons & 0xff, kGroups - 1);
}

// The code uses several columns together. With lengths in multiples of 4096 bytes, equal indexes of
// all columns would compete for the same cache lines.
using Column = std::array<uint64_t, kMostDtlEntries + 24>;

struct Columns {
  Column processor, srr1, since, reasons;
  // These columns hold one group after the other.
  Column enqueue_to_dispatch, ready_to_enqueue, waiting_to_ready, srr0, fault_address;
};

// The positions of a group's entries in the columns.
struct Group {
  size_t begin = 0, count = 0;

  std::span<uint64_t> of(Column& column) const { return std::span(column).subspan(begin, count); }
};

// The positions of all entries of a block.
class Groups {
 public:
  // reasons_of(i) returns the reasons of entry i.
  template <class ReasonsOf>
  Groups(size_t entries, const ReasonsOf& reasons_of)
      : part_((entries + kParts - 1) / kParts), entries_(entries) {
    size_t i = 0;
    // Entries of the same group often follow each other, and each increment of a counter waits for
    // the preceding increment. The parts have separate counters, so these waits overlap.
    std::array<std::array<uint16_t, kGroups>, kParts> counts{};
    const auto rank = [&](size_t part, size_t entry) {
      const size_t group = group_of(reasons_of(entry));
      ranks_[entry] = static_cast<uint16_t>(counts[part][group]++ * kGroups + group);
    };
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

  // Calls visit(i, place) for each entry i in order.
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

  size_t part_, entries_;
  std::array<Group, kGroups> groups_;
  std::array<std::array<size_t, kGroups>, kParts> begins_;
  // For each entry: kGroups * the number of preceding entries of its group in its part + the group.
  std::array<uint16_t, kMostDtlEntries> ranks_;
  static_assert(kMostDtlEntries / kParts * kGroups <= UINT16_MAX + 1);
};

}  // namespace

void pack_dtl_entries(std::span<const DtlEntry> entries, std::vector<std::byte>& to,
                      DtlPackHints* hints) {
  Columns columns;
  const Groups groups(entries.size(), [&](size_t i) { return entries[i].preempt_reason; });
  uint64_t before = 0;
  groups.visit([&](size_t i, size_t place) {
    const DtlEntry& entry = entries[i];
    columns.processor[i] = entry.processor_id;
    columns.srr1[i] = entry.srr1;
    columns.since[i] = entry.timebase - before;
    before = entry.timebase;
    columns.reasons[i] = uint64_t{entry.dispatch_reason} << 8 | entry.preempt_reason;
    columns.enqueue_to_dispatch[place] = entry.enqueue_to_dispatch;
    columns.ready_to_enqueue[place] = entry.ready_to_enqueue;
    columns.waiting_to_ready[place] = entry.waiting_to_ready;
    columns.srr0[place] = entry.srr0;
    columns.fault_address[place] = entry.fault_address;
  });
  const Group all{.count = entries.size()};
  const auto hint = [hints](size_t column) { return hints ? &hints->columns[column] : nullptr; };
  pack_repeated(all.of(columns.processor), to, hint(0));
  pack_repeated(all.of(columns.srr1), to, hint(1));
  pack_numbers(all.of(columns.since), to);
  pack_repeated(all.of(columns.reasons), to, hint(2));
  size_t column = kHintsOfAll;
  for (const Group& group : groups.all()) {
    if (group.count != 0) {
      pack_numbers(group.of(columns.enqueue_to_dispatch), to);
      pack_numbers(group.of(columns.ready_to_enqueue), to);
      pack_numbers(group.of(columns.waiting_to_ready), to);
      pack_repeated(group.of(columns.srr0), to, hint(column));
      pack_repeated(group.of(columns.fault_address), to, hint(column + 1));
    }
    column += kHintsOfGroup;
  }
}

bool unpack_dtl_entries(std::span<const std::byte> packed, std::span<DtlEntry> entries) {
  Columns columns;
  const Group all{.count = entries.size()};
  NumberReader reader(packed);
  reader.repeated(all.of(columns.processor));
  reader.repeated(all.of(columns.srr1));
  reader.numbers(all.of(columns.since));
  reader.repeated(all.of(columns.reasons));
  const Groups groups(entries.size(), [&](size_t i) { return columns.reasons[i]; });
  for (const Group& group : groups.all()) {
    if (group.count == 0) continue;
    reader.numbers(group.of(columns.enqueue_to_dispatch));
    reader.numbers(group.of(columns.ready_to_enqueue));
    reader.numbers(group.of(columns.waiting_to_ready));
    reader.repeated(group.of(columns.srr0));
    reader.repeated(group.of(columns.fault_address));
  }
  uint64_t timebase = 0;
  groups.visit([&](size_t i, size_t place) {
    const uint64_t reasons = columns.reasons[i];
    timebase += columns.since[i];
    entries[i] = {.dispatch_reason = static_cast<uint8_t>(reasons >> 8),
                  .preempt_reason = static_cast<uint8_t>(reasons),
                  .processor_id = static_cast<uint16_t>(columns.processor[i]),
                  .enqueue_to_dispatch = static_cast<uint32_t>(columns.enqueue_to_dispatch[place]),
                  .ready_to_enqueue = static_cast<uint32_t>(columns.ready_to_enqueue[place]),
                  .waiting_to_ready = static_cast<uint32_t>(columns.waiting_to_ready[place]),
                  .timebase = timebase,
                  .fault_address = columns.fault_address[place],
                  .srr0 = columns.srr0[place],
                  .srr1 = columns.srr1[i]};
  });
  return reader.ok() && reader.at_end();
}

}  // namespace htmtrace

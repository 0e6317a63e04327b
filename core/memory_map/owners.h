// SPDX-License-Identifier: GPL-2.0-or-later
// The partition that owns a real address. A memory map lists the partitions of the whole machine.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "core/base/address.h"
#include "core/base/range_search.h"

namespace htmtrace {

class MemoryOwners {
 public:
  struct Range {
    uint64_t real = 0;
    uint64_t size_bytes = 0;
    uint32_t partition = 0;  // LP index
  };

  // No partition owns memory.
  MemoryOwners() = default;

  // Accepts claims in any order. No claim may be empty or end beyond the address space. Memory with
  // several claims belongs to the claim that begins first or, at equal addresses, to the partition
  // with the lower LP index.
  explicit MemoryOwners(std::vector<Range> claims);

  // Sorted by real address, without overlaps; adjacent ranges of a partition are joined.
  const std::vector<Range>& ranges() const { return ranges_; }
  bool empty() const { return ranges_.empty(); }
  // Memory that more than one partition claims.
  uint64_t contested_bytes() const { return contested_bytes_; }

  // Null when no partition owns the address.
  const Range* find(RealAddr address) const;
  // The memory around `address` that no partition owns. Requires that no partition owns `address`.
  Gap gap_around(RealAddr address) const;

  // Not LP indexes, which have 32 bits.
  static constexpr uint64_t kNobody = uint64_t{1} << 32;
  static constexpr uint64_t kUnknown = kNobody + 1;

 private:
  void add(Range range);

  std::vector<Range> ranges_;
  uint64_t contested_bytes_ = 0;
  uint64_t contested_end_ = 0;  // end of the last contested range
};

// Counts accesses by the partition that owns the memory. A table can cover several traces, each
// with its own map. The caller increments the counts in each `Entry`. An Entry has the member
// `uint64_t count`, by which rows() sorts.
template <class Entry>
class OwnerTable {
 public:
  struct Row {
    uint64_t key = 0;  // an LP index, kNobody or kUnknown
    Entry entry;
  };

  // Memory of one owner, and the owner's entry.
  struct Stretch {
    uint64_t real = 0;
    uint64_t size_bytes = 0;
    Entry* entry = nullptr;
    bool holds(RealAddr address) const { return address.value - real < size_bytes; }
  };

  OwnerTable() = default;
  OwnerTable(const OwnerTable&) = delete;
  OwnerTable& operator=(const OwnerTable&) = delete;

  // `owners` must outlive the trace's last call of at() or around().
  void begin_trace(const MemoryOwners& owners) {
    owners_ = &owners;
    recent_ = {};
    known_ |= !owners.empty();
  }

  // The entry for the owner of the address. Without a map of partitions, this entry is unknown().
  [[gnu::always_inline]] Entry& at(RealAddr address) {
    const Stretch& recent = recent_at(address);
    return recent.holds(address) ? *recent.entry : *find(address).entry;
  }
  // The entry that at() returns, and memory around the address that has the same owner. This memory
  // may exclude the highest address. The table never moves an entry.
  Stretch around(RealAddr address) {
    const Stretch& recent = recent_at(address);
    return recent.holds(address) ? recent : find(address);
  }
  // The entry for accesses without a known address.
  Entry& unknown() {
    if (unknown_ == nullptr) unknown_ = &table_[MemoryOwners::kUnknown];
    return *unknown_;
  }

  // The entry of an owner: an LP index, kNobody or kUnknown.
  Entry& of(uint64_t owner) { return table_[owner]; }

  // Calls visit(owner, entry) for each entry with a count, in the order of their keys.
  template <class Visit>
  void visit(const Visit& visit) const {
    for (const auto& [key, entry] : table_) {
      if (!entry.empty()) visit(key, entry);
    }
  }
  // Keeps the entries for the next counts.
  void clear_counts() {
    for (auto& [key, entry] : table_) entry = {};
  }

  // At least one map lists a partition's memory.
  bool known() const { return known_; }

  // The entries that at(), around() and unknown() returned, from the highest count to the lowest.
  // Entries with equal counts are in the order of their keys.
  std::vector<Row> rows() const {
    std::vector<Row> rows;
    for (const auto& [key, entry] : table_) rows.push_back({key, entry});
    std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
      return a.entry.count != b.entry.count ? a.entry.count > b.entry.count : a.key < b.key;
    });
    return rows;
  }

 private:
  Stretch& recent_at(RealAddr address) {
    return recent_[address.value / kRecentRangeBytes % recent_.size()];
  }

  const Stretch& find(RealAddr address) { return recent_at(address) = search(address); }

  Stretch search(RealAddr address) {
    if (owners_ == nullptr || owners_->empty()) return {0, ~uint64_t{0}, &unknown()};
    if (const MemoryOwners::Range* const range = owners_->find(address)) {
      return {range->real, range->size_bytes, &table_[range->partition]};
    }
    const Gap gap = owners_->gap_around(address);
    return {gap.real, gap.size_bytes, &table_[MemoryOwners::kNobody]};
  }

  const MemoryOwners* owners_ = nullptr;
  std::array<Stretch, 64> recent_{};  // as in TranslationMap::Cursor
  bool known_ = false;
  std::map<uint64_t, Entry> table_;  // a std::map never moves an entry
  Entry* unknown_ = nullptr;
};

}  // namespace htmtrace

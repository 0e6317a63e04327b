// SPDX-License-Identifier: GPL-2.0-or-later
// The partition that owns a real address. A memory map lists the partitions of the whole machine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/address.h"
#include "core/base/hot_table.h"
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
// with its own map.
template <class Entry>
class OwnerTable {
 public:
  // `owners` must outlive the trace's last call of at().
  void begin_trace(const MemoryOwners& owners) {
    owners_ = &owners;
    recent_ = {};
    known_ |= !owners.empty();
  }

  Entry& at(RealAddr address) {
    if (owners_ == nullptr || owners_->empty()) return unknown();
    MemoryOwners::Range& recent = recent_[address.value / kRecentRangeBytes % recent_.size()];
    if (address.value - recent.real >= recent.size_bytes) {
      const MemoryOwners::Range* const range = owners_->find(address);
      if (range == nullptr) return table_.at(MemoryOwners::kNobody);
      recent = *range;
    }
    return table_.at(recent.partition);
  }
  // The entry for accesses without a known address.
  Entry& unknown() { return table_.at(MemoryOwners::kUnknown); }

  // At least one map lists a partition's memory.
  bool known() const { return known_; }

  // Keys are LP indexes, kNobody and kUnknown. The highest count comes first.
  std::vector<typename HotTable<Entry>::Slot> rows() const { return table_.top(table_.size()); }

 private:
  // Far more than the number of partitions of any machine.
  static constexpr size_t kMostOwners = 1 << 16;

  const MemoryOwners* owners_ = nullptr;
  std::array<MemoryOwners::Range, 64> recent_{};  // as in TranslationMap::Cursor
  bool known_ = false;
  HotTable<Entry> table_{kMostOwners};
};

}  // namespace htmtrace

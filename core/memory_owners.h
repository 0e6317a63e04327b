// SPDX-License-Identifier: GPL-2.0-or-later
// Whose memory a real address is: a memory map speaks of all partitions of the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/address.h"
#include "core/hot_table.h"

namespace htmtrace {

class MemoryOwners {
 public:
  struct Range {
    uint64_t real = 0;
    uint64_t size_bytes = 0;
    uint32_t partition = 0;  // LP index
  };

  // Nobody has memory.
  MemoryOwners() = default;

  // From what each partition claims, in any order; no claim is empty or ends beyond the address
  // space. What several claim is of the one whose claim begins first, or has the lower LP index.
  explicit MemoryOwners(std::vector<Range> claims);

  // Sorted by real address, without overlaps; neighbours of one partition are joined.
  const std::vector<Range>& ranges() const { return ranges_; }
  bool empty() const { return ranges_.empty(); }
  // Claimed by more than one partition.
  uint64_t contested_bytes() const { return contested_bytes_; }

  // Null when nobody has it.
  const Range* find(RealAddr address) const;

  // No LP index, which have 32 bits.
  static constexpr uint64_t kNobody = uint64_t{1} << 32;
  static constexpr uint64_t kUnknown = kNobody + 1;

 private:
  void add(Range range);

  std::vector<Range> ranges_;
  uint64_t contested_bytes_ = 0;
  uint64_t contested_end_ = 0;  // of the last of them
};

// Counts by whose memory was meant. Several traces, each with a map of its own, may be counted.
template <class Entry>
class OwnerTable {
 public:
  // `owners` must outlive what is counted of the trace.
  void begin_trace(const MemoryOwners& owners) {
    owners_ = &owners;
    recent_ = {};
    known_ |= !owners.empty();
  }

  Entry& at(RealAddr address) {
    if (owners_ == nullptr || owners_->empty()) return unknown();
    if (address.value - recent_.real >= recent_.size_bytes) {
      const MemoryOwners::Range* const range = owners_->find(address);
      if (range == nullptr) return table_.at(MemoryOwners::kNobody);
      recent_ = *range;
    }
    return table_.at(recent_.partition);
  }
  // Of what has no known address.
  Entry& unknown() { return table_.at(MemoryOwners::kUnknown); }

  // Whether some map told of somebody's memory.
  bool known() const { return known_; }

  // Keys are LP indexes, kNobody and kUnknown. Highest first.
  std::vector<typename HotTable<Entry>::Slot> rows() const { return table_.top(table_.size()); }

 private:
  // Far more than a machine has partitions.
  static constexpr size_t kMostOwners = 1 << 16;

  const MemoryOwners* owners_ = nullptr;
  MemoryOwners::Range recent_;
  bool known_ = false;
  HotTable<Entry> table_{kMostOwners};
};

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
// Remembers earlier walks. A processor omits entries that its page-walk caches and TLB hold. The
// processor read each such entry once, so an earlier record may report the entry.
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/recent_table.h"
#include "core/core_trace/radix_walk.h"

namespace htmtrace {

class WalkMemory {
 public:
  // The owner of a tree: a process (of the guest, or of a machine without a hypervisor) or the
  // partition.
  struct Space {
    static constexpr uint32_t kPartition = ~uint32_t{0};
    uint32_t lpid = 0;
    uint32_t pid = kPartition;
  };

  // Learns from a walk. Ignores the legs that this class supplied.
  void learn(const Walk& walk);

  // Fills the missing parts of `walk` with remembered entries. `walk` must have an address; `space`
  // is the tree of the final leg.
  void complete(Walk& walk, Space space) const;

 private:
  struct Key {
    uint32_t lpid = 0, pid = 0;
    uint64_t address = 0;  // in units of the range that an entry covers
    uint8_t what = 0;      // level, leg or page size
    bool operator==(const Key&) const = default;
    uint64_t hash() const {
      return address ^ (uint64_t{lpid} << 52) ^ (uint64_t{pid} << 20) ^ (uint64_t{what} << 40);
    }
  };

  void learn_entries(const WalkLeg& leg, uint64_t address, Space space, unsigned shift);
  void complete_entries(WalkLeg& leg, uint64_t address, Space space, unsigned shift) const;
  std::optional<unsigned> leaf_of(const WalkLeg& leg, uint64_t address, Space space,
                                  unsigned shift) const;
  void complete_guest_legs(Walk& walk) const;

  RecentTable<Key, WalkLeg> legs_{13};
  RecentTable<Key, uint64_t> entries_{14};    // a tree's entry for an address
  RecentTable<Key, unsigned> leaves_{12};     // the level of a tree's leaf
  RecentTable<Key, uint64_t> partitions_{8};  // partition-table entries
  RecentTable<Key, uint64_t> guests_{13};     // guest pages by host page
};

// log2 of the range in which all addresses share the guest entry of a leg. All addresses share the
// process-table entry.
unsigned guest_leg_shift(WalkLegKind kind);

// The level of the leaf for a page of this size.
constexpr unsigned leaf_level(unsigned page_shift) {
  return page_shift >= 39 ? 0 : (page_shift >= 30 ? 1 : (page_shift >= 21 ? 2 : 3));
}

}  // namespace htmtrace

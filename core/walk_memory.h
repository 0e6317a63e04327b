// SPDX-License-Identifier: GPL-2.0-or-later
// What earlier walks told. A processor leaves out of a record what it has in its page-walk caches
// and TLB; it read it once, and a trace that saw that read has it.
#pragma once

#include <cstdint>
#include <optional>

#include "core/radix_walk.h"
#include "core/recent_table.h"

namespace htmtrace {

class WalkMemory {
 public:
  // Of whose tree an address is: a process's own (of the guest, or of a machine without a
  // hypervisor), or the partition's.
  struct Space {
    static constexpr uint32_t kPartition = ~uint32_t{0};
    uint32_t lpid = 0;
    uint32_t pid = kPartition;
  };

  // Learns from a walk for `ea`. What it remembered itself is known already.
  void learn(const Walk& walk);

  // Puts into `walk` what is missing and known. The address must be; `space` is that of the tree
  // that the final leg went through.
  void complete(Walk& walk, Space space) const;

 private:
  struct Key {
    uint32_t lpid = 0, pid = 0;
    uint64_t address = 0;  // in units of what an entry covers
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
  RecentTable<Key, unsigned> leaves_{12};     // the level at which a tree ends there
  RecentTable<Key, uint64_t> partitions_{8};  // partition-table entries
  RecentTable<Key, uint64_t> guests_{13};     // guest pages by host page
};

// The unit in which addresses that share the guest entry of a leg are counted; the process-table
// entry is shared by all.
unsigned guest_leg_shift(WalkLegKind kind);

// The level of the leaf of a tree for a page of this size.
constexpr unsigned leaf_level(unsigned page_shift) {
  return page_shift >= 39 ? 0 : (page_shift >= 30 ? 1 : (page_shift >= 21 ? 2 : 3));
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/core_trace/walk_completer.h"

namespace htmtrace {
namespace {

// Adds the access's offset to a page address.
uint64_t in_page(uint64_t page, uint64_t address, unsigned shift) {
  const uint64_t mask = (uint64_t{1} << shift) - 1;
  return (page & ~mask) | (address & mask);
}

bool has_entries(const WalkLeg& leg, unsigned leaf) {
  for (unsigned level = 0; level <= leaf; level++) {
    if (!leg.has_entry(level)) return false;
  }
  return leg.has_host;
}

// The lowest known level. Walks of guest entries do not report the size of the page.
unsigned lowest_entry(const WalkLeg& leg) {
  unsigned lowest = 0;
  for (unsigned level = 0; level < kTreeLevels; level++) {
    if (leg.has_entry(level)) lowest = level;
  }
  return lowest;
}

bool whole_guest_leg(const WalkLeg& leg) {
  return leg.has_guest && (leg.told | leg.remembered) != 0 && has_entries(leg, lowest_entry(leg));
}

bool is_complete(const Walk& walk, bool nested, bool guest_real) {
  const WalkLeg& final_leg = walk.leg(WalkLegKind::kFinal);
  if (!walk.has_partition || walk.host_shift == 0) return false;
  if (!has_entries(final_leg, leaf_level(walk.host_shift))) return false;
  if (guest_real) return final_leg.has_guest;
  if (!whole_guest_leg(walk.leg(WalkLegKind::kProcess))) return false;
  if (!nested) return true;
  if (walk.guest_shift == 0 || !final_leg.has_guest) return false;
  for (unsigned level = 0; level <= leaf_level(walk.guest_shift); level++) {
    const auto kind = static_cast<WalkLegKind>(static_cast<unsigned>(WalkLegKind::kPgd) + level);
    if (!whole_guest_leg(walk.leg(kind))) return false;
  }
  return true;
}

}  // namespace

void WalkCompleter::take(Walk& walk) {
  if (walk.use == WalkUse::kAccess) finish(walk);
  memory_.learn(walk);
}

void WalkCompleter::finish(Walk& walk) {
  const Modes modes = walk.modes;
  // Without the modes, the owner of the page tables is unknown, and the walk stays incomplete.
  if (modes.known == 0) return;
  const bool hypervisor = modes.is(Modes::kHv);
  const bool relocated = modes.is(walk.data_side ? Modes::kDr : Modes::kIr);
  const bool guest_real = !hypervisor && !relocated;
  const bool nested = !hypervisor;
  WalkLeg& final_leg = walk.leg(WalkLegKind::kFinal);
  if (guest_real && !final_leg.has_guest) {
    final_leg.guest = walk.ea.value & kRealModeMask;
    final_leg.has_guest = true;
  } else if (final_leg.has_guest && walk.guest_shift != 0) {
    // The record gives the guest's page. The address selects the part in the hypervisor's page.
    final_leg.guest = in_page(final_leg.guest, walk.ea.value, walk.guest_shift);
  }
  memory_.complete(walk, {walk.lpid, nested ? WalkMemory::Space::kPartition : walk.pid});
  walk.complete = is_complete(walk, nested, guest_real);
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/core_trace/walk_memory.h"

namespace htmtrace {
namespace {

constexpr uint64_t kPageOffset = 0xfff;
constexpr unsigned kWholeSpace = 63;

constexpr WalkMemory::Space partition_space(const Walk& walk) {
  return {walk.lpid, WalkMemory::Space::kPartition};
}

// True if the guest's tree has this leg: no leg lies below the leaf of a page of 2^guest_shift
// bytes.
bool above_leaf(WalkLegKind kind, unsigned guest_shift) {
  if (kind == WalkLegKind::kProcess) return true;
  return static_cast<unsigned>(kind) - static_cast<unsigned>(WalkLegKind::kPgd) <=
         leaf_level(guest_shift);
}

}  // namespace

unsigned guest_leg_shift(WalkLegKind kind) {
  if (kind == WalkLegKind::kProcess || kind == WalkLegKind::kFinal) return kWholeSpace;
  return kTreeShifts[static_cast<size_t>(kind) - static_cast<size_t>(WalkLegKind::kPgd)];
}

void WalkMemory::learn_entries(const WalkLeg& leg, uint64_t address, Space space, unsigned shift) {
  unsigned lowest = kTreeLevels;
  for (unsigned level = 0; level < kTreeLevels; level++) {
    if ((leg.told >> level & 1) == 0) continue;
    lowest = level;
    entries_.put(
        {space.lpid, space.pid, address >> kTreeShifts[level], static_cast<uint8_t>(level)},
        leg.entries[level]);
  }
  if (!leg.has_host) return;  // an exception: the tree may continue
  if (shift != 0) lowest = leaf_level(shift);
  if (lowest == kTreeLevels) return;
  leaves_.put({space.lpid, space.pid, address >> kSmallPage, 0}, lowest);
  // A leaf above the page level ends all walks of its range.
  leaves_.put({space.lpid, space.pid, address >> kTreeShifts[lowest], 1}, lowest);
}

void WalkMemory::learn(const Walk& walk) {
  const Space partition = partition_space(walk);
  if (walk.partition_told) partitions_.put({walk.lpid, 0, 0, 0}, walk.partition);
  for (unsigned i = 0; i < kWalkLegs; i++) {
    const auto kind = static_cast<WalkLegKind>(i);
    const WalkLeg& leg = walk.legs[i];
    if (leg.from_memory || !leg.there()) continue;
    // In a larger guest page, only the access identifies the part that the hypervisor's tables
    // translated.
    const bool which_part = walk.has_address || walk.guest_shift <= kSmallPage;
    if (kind == WalkLegKind::kFinal && leg.has_guest && !which_part) continue;
    if (leg.has_guest) {
      const unsigned shift = kind == WalkLegKind::kFinal ? walk.host_shift : 0;
      learn_entries(leg, leg.guest, partition, shift);
      if (leg.has_host) guests_.put({walk.lpid, 0, leg.host >> kSmallPage, 0}, leg.guest);
    }
    if (kind == WalkLegKind::kFinal) {
      if (!leg.has_guest && walk.has_address) {
        learn_entries(leg, walk.ea.value, {walk.lpid, walk.pid}, walk.host_shift);
      }
    } else if (walk.has_address && leg.has_guest && leg.has_host) {
      legs_.put(
          {walk.lpid, walk.pid, walk.ea.value >> guest_leg_shift(kind), static_cast<uint8_t>(kind)},
          leg);
    }
  }
}

std::optional<unsigned> WalkMemory::leaf_of(const WalkLeg& leg, uint64_t address, Space space,
                                            unsigned shift) const {
  if (shift != 0) return leaf_level(shift);
  for (unsigned level = kTreeLevels; level-- > 0 && leg.has_host;) {
    if ((leg.told >> level & 1) != 0) return level;
  }
  const unsigned* known = leaves_.find({space.lpid, space.pid, address >> kSmallPage, 0});
  for (unsigned level = 1; known == nullptr && level < kTreeLevels; level++) {
    known = leaves_.find({space.lpid, space.pid, address >> kTreeShifts[level], 1});
    if (known != nullptr && *known != level) known = nullptr;
  }
  return known == nullptr ? std::nullopt : std::optional(*known);
}

void WalkMemory::complete_entries(WalkLeg& leg, uint64_t address, Space space,
                                  unsigned shift) const {
  const std::optional<unsigned> leaf = leaf_of(leg, address, space, shift);
  for (unsigned level = 0; leaf && level <= *leaf; level++) {
    if (leg.has_entry(level)) continue;
    const uint64_t* entry = entries_.find(
        {space.lpid, space.pid, address >> kTreeShifts[level], static_cast<uint8_t>(level)});
    if (entry == nullptr) continue;
    leg.entries[level] = *entry;
    leg.remembered |= static_cast<uint8_t>(1U << level);
  }
}

void WalkMemory::complete_guest_legs(Walk& walk) const {
  for (unsigned i = 0; i < static_cast<unsigned>(WalkLegKind::kFinal); i++) {
    const auto kind = static_cast<WalkLegKind>(i);
    WalkLeg& leg = walk.legs[i];
    const WalkLeg* known = legs_.find(
        {walk.lpid, walk.pid, walk.ea.value >> guest_leg_shift(kind), static_cast<uint8_t>(kind)});
    if (!leg.there()) {
      if (known == nullptr || (walk.guest_shift != 0 && !above_leaf(kind, walk.guest_shift))) {
        continue;
      }
      leg = *known;
      leg.remembered |= leg.told;
      leg.told = 0;
      leg.from_memory = true;
    } else if (!leg.has_guest && leg.has_host && known != nullptr && known->host == leg.host) {
      leg.guest = known->guest;
      leg.has_guest = true;
    }
  }
}

void WalkMemory::complete(Walk& walk, Space space) const {
  const Space partition = partition_space(walk);
  if (!walk.has_partition) {
    if (const uint64_t* entry = partitions_.find({walk.lpid, 0, 0, 0})) {
      walk.partition = *entry;
      walk.has_partition = true;
    }
  }
  complete_guest_legs(walk);
  const bool nested = space.pid == Space::kPartition;
  for (unsigned i = 0; i < kWalkLegs; i++) {
    WalkLeg& leg = walk.legs[i];
    if (!leg.there()) continue;
    if (!leg.has_guest && leg.has_host && (nested || i != kWalkLegs - 1)) {
      // An interrupted walk resumed after the processor already knew the guest's address.
      const uint64_t* guest = guests_.find({walk.lpid, 0, leg.host >> kSmallPage, 0});
      if (guest != nullptr) {
        leg.guest = (*guest & ~kPageOffset) | (leg.host & kPageOffset);
        leg.has_guest = true;
      }
    }
    const bool final_leg = i == kWalkLegs - 1;
    if (leg.has_guest) {
      complete_entries(leg, leg.guest, partition, final_leg ? walk.host_shift : 0);
    } else if (final_leg && !nested) {
      complete_entries(leg, walk.ea.value, space, walk.host_shift);
    }
  }
}

}  // namespace htmtrace

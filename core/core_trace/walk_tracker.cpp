// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/core_trace/walk_tracker.h"

#include <algorithm>

#include "core/core_trace/words.h"

namespace htmtrace {
namespace {

using words::WalkKind;

constexpr unsigned kTableLevel = 7;  // a partition- or process-table entry

// The level codes of entries are 6, 4, 2, 0 from the root.
unsigned tree_level(unsigned code) {
  return (6 - code) / 2;
}

WalkLegKind leg_of_level(unsigned code) {
  if (code == kTableLevel) return WalkLegKind::kProcess;
  return static_cast<WalkLegKind>(static_cast<unsigned>(WalkLegKind::kPgd) + tree_level(code));
}

uint8_t page_shift(unsigned code) {
  constexpr uint8_t kShifts[] = {12, 16, 21, 24, 30, 0, 39, 0};
  return kShifts[code];
}

// The parsed words of the current leg, before its end.
struct OpenLeg {
  WalkLeg leg;
  WalkLegKind kind = WalkLegKind::kFinal;
  bool has_kind = false;
};

void close(Walk& walk, OpenLeg& open, WalkLegKind kind) {
  WalkLeg& place = walk.leg(kind);
  // The guest address of an entry and the following words must agree on the entry.
  if (open.has_kind && open.kind != kind) {
    walk.leg(open.kind) = open.leg;
  } else {
    place = open.leg;
  }
  open = {};
}

void take_word(Walk& walk, OpenLeg& open, uint64_t word) {
  const unsigned code = words::walk_level(word);
  const uint64_t address = words::walk_address(word);
  switch (words::walk_kind(word)) {
    case WalkKind::kHostEntry:
      if (code == kTableLevel) {
        walk.partition = address;
        walk.has_partition = walk.partition_told = true;
      } else {
        open.leg.entries[tree_level(code)] = address;
        open.leg.told |= static_cast<uint8_t>(1U << tree_level(code));
      }
      break;
    case WalkKind::kGuestEntry:
    case WalkKind::kFinalGuest: {
      const bool final_address = words::walk_kind(word) == WalkKind::kFinalGuest;
      // The open leg has no end word: the walk took another path.
      if (open.has_kind) walk.leg(open.kind) = open.leg;
      open = {};
      open.kind = final_address ? WalkLegKind::kFinal : leg_of_level(code);
      open.has_kind = true;
      open.leg.guest = address;
      open.leg.has_guest = true;
      if (final_address) walk.guest_shift = page_shift(code);
      break;
    }
    case WalkKind::kGuestEntryHost: {
      open.leg.host = address;
      open.leg.has_host = true;
      close(walk, open, leg_of_level(code));
      break;
    }
    case WalkKind::kFinalHost:
      open.leg.host = address;
      open.leg.has_host = true;
      walk.host_shift = page_shift(code);
      close(walk, open, WalkLegKind::kFinal);
      break;
    case WalkKind::kUnknown:
      break;
  }
  walk.exception |= words::walk_exception(word);
}

bool same_page(const Walk& walk, RealAddr ra) {
  const WalkLeg& final_leg = walk.leg(WalkLegKind::kFinal);
  if (!final_leg.has_host) return false;
  const unsigned shift = std::max<unsigned>(walk.host_shift, kSmallPage);
  return final_leg.host >> shift == ra.value >> shift;
}

void set_address(Walk& walk, EffectiveAddr ea, RealAddr ra) {
  walk.ea = ea;
  walk.ra = ra;
  walk.has_address = true;
  walk.use = WalkUse::kAccess;
}

}  // namespace

Walk parse_walk(const WordRun& run, const Framing& framing) {
  Walk walk;
  walk.data_side = words::xlate_data_side(run[0]);
  walk.lpid = words::xlate_lpid(run[0]);
  walk.pid = words::xlate_pid(run[0]);
  OpenLeg open;
  for (size_t i = 1; i < framing.words && !words::walk_end(run[i]); i++) {
    take_word(walk, open, run[i]);
  }
  if (open.leg.there()) close(walk, open, open.has_kind ? open.kind : WalkLegKind::kFinal);
  return walk;
}

void WalkTracker::take_xlate(const WordRun& run, const Framing& framing, uint64_t offset) {
  std::vector<Walk>& side = words::xlate_data_side(run[0]) ? data_side_ : instruction_side_;
  if (side.size() >= kMostPending) pass_on_interrupted(side);
  side.push_back(parse_walk(run, framing));
  side.back().offset = offset;
}

void WalkTracker::take_line(EffectiveAddr line, RealAddr page) {
  pass_on_interrupted(data_side_);
  for (Walk& walk : instruction_side_) {
    if (walk.use == WalkUse::kAccess)
      walk.use = WalkUse::kInterrupted;  // walk of the previous line
  }
  const auto found =
      std::find_if(instruction_side_.rbegin(), instruction_side_.rend(),
                   [&](const Walk& walk) { return !walk.has_address && same_page(walk, page); });
  if (found != instruction_side_.rend()) set_address(*found, line, page);
}

void WalkTracker::take_instruction(const Instruction& instruction) {
  for (unsigned i = 0; i < instruction.data_count; i++) {
    const DataAccess& data = instruction.data[i];
    if (!data.has_ra) continue;
    const auto found = std::find_if(data_side_.begin(), data_side_.end(), [&](const Walk& walk) {
      return walk.use == WalkUse::kInterrupted && same_page(walk, data.ra);
    });
    if (found != data_side_.end()) set_address(*found, data.ea, data.ra);
  }
  for (std::vector<Walk>* side : {&instruction_side_, &data_side_}) {
    for (Walk& walk : *side) {
      if (walk.use == WalkUse::kAccess) walk.modes = instruction.modes;
      done_.push_back(walk);
    }
    side->clear();
  }
}

void WalkTracker::abandon() {
  pass_on_interrupted(instruction_side_);
  pass_on_interrupted(data_side_);
}

void WalkTracker::pass_on_interrupted(std::vector<Walk>& walks) {
  for (Walk& walk : walks) {
    walk.use = WalkUse::kInterrupted;
    done_.push_back(walk);
  }
  walks.clear();
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the hot addresses of a nest (bus) trace, with their requesting units and commands.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/base/address.h"
#include "core/base/counts.h"
#include "core/base/hot_table.h"
#include "core/memory_map/owners.h"
#include "core/nest_trace/decoder.h"
#include "core/nest_trace/events.h"
#include "core/nest_trace/names.h"

namespace htmtrace::nest {

struct HotAddress {
  static constexpr uint64_t kNoAddress = ~uint64_t{0};
  uint64_t count = 0;
  uint64_t retries = 0;             // commands whose response is a retry
  uint64_t lowest_la = kNoAddress;  // lowest known logical address
  Counts sources;                   // source_key()
  CountList<2> commands;            // kind_key(); most addresses have few kinds
};

// Commands with the same name are one kind, for all secondary encodings.
constexpr uint32_t kNamedKind = 1 << 16;
constexpr uint32_t kind_key(const CommandName& name, const Command& command) {
  return name.name.empty() ? command.ttype << 8 | command.tsize : kNamedKind | name.row;
}

constexpr uint32_t source_key(const Tag& tag) {
  return tag.group << 16 | tag.chip << 12 | tag.unit;
}
constexpr Tag source_of(uint32_t key) {
  return {.group = key >> 16, .chip = key >> 12 & 15, .unit = key & 0xfff, .transaction = 0};
}

// The requests on the bus of a trace, by chip: the index is group << 4 | chip.
struct TracedBus {
  static constexpr size_t kChips = 256;
  std::string name;
  std::array<uint64_t, kChips> chips{};
};

class HotSpots {
 public:
  struct Wishes {
    bool logical = true;          // by logical address; otherwise by real address
    std::vector<uint64_t> units;  // sizes in which the class counts addresses; powers of two
    size_t entries = 1 << 16;     // of each table
  };
  HotSpots(Layout layout, Wishes wishes);

  // Starts another trace. `owners` must outlive the trace's commands.
  void begin_trace(std::string name, const MemoryOwners& owners) {
    traces_.push_back({.name = std::move(name), .chips = {}});
    owners_.begin_trace(owners);
  }

  // Counts a command with or without an address. Call begin_trace() first.
  void seen(const Command& command);
  // Counts a command with an address; `la` is set if known.
  void command(const Event& event, const Command& command, std::optional<LogicalAddr> la);

  // Call finish() after the last command and before tables(): the tables lag.
  void finish() { count_waiting(); }

  Layout layout() const { return layout_; }
  const Wishes& wishes() const { return wishes_; }
  uint64_t all_commands() const { return seen_; }
  uint64_t commands() const { return commands_; }  // only those with an address
  uint64_t without_address() const { return without_address_; }
  // Throws std::logic_error before finish().
  const std::vector<HotTable<HotAddress>>& tables() const {
    if (waiting_count_ != 0) throw std::logic_error("nest::HotSpots::tables() before finish()");
    return tables_;
  }
  const std::vector<TracedBus>& traces() const { return traces_; }
  // Counts by owner of the memory. Their lowest_la is not set.
  const OwnerTable<HotAddress>& owners() const { return owners_; }

 private:
  // A command that no table has counted yet. Traces touch more memory than a cache holds, so the
  // rows of several commands are loaded at the same time before they are counted.
  struct Waiting {
    uint64_t address = 0;
    uint64_t la = HotAddress::kNoAddress;
    uint32_t source = 0;
    uint32_t kind = 0;
    bool is_retried = false;
  };
  static constexpr size_t kMostWaiting = 16;

  static void count(const Waiting& command, HotAddress& hot, Counts::Room& room);
  void count_waiting();
  void recount_room(size_t unit);

  Layout layout_;
  Wishes wishes_;
  const Names& names_;
  uint64_t seen_ = 0;
  uint64_t commands_ = 0;
  uint64_t without_address_ = 0;
  std::vector<HotTable<HotAddress>> tables_;
  std::vector<TracedBus> traces_;
  OwnerTable<HotAddress> owners_;
  // Slots in the short lists for each entry of a table. The lists of the owners have their own
  // room.
  static constexpr size_t kListPlaces = 8;
  std::vector<Counts::Room> rooms_;
  std::vector<uint64_t> counted_until_;  // each table's error at the last recount of its room
  Counts::Room owner_room_{1 << 20};
  std::array<Waiting, kMostWaiting> waiting_{};
  size_t waiting_count_ = 0;
};

}  // namespace htmtrace::nest

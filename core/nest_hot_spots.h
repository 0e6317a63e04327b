// SPDX-License-Identifier: GPL-2.0-or-later
// Which addresses of a nest (bus) trace are hot, by which units, with which commands.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/address.h"
#include "core/counts.h"
#include "core/hot_table.h"
#include "core/memory_owners.h"
#include "core/nest_decoder.h"
#include "core/nest_events.h"
#include "core/nest_names.h"

namespace htmtrace::nest {

struct HotAddress {
  static constexpr uint64_t kNoAddress = ~uint64_t{0};
  uint64_t count = 0;
  uint64_t retries = 0;             // commands whose response is a retry
  uint64_t lowest_la = kNoAddress;  // of the commands, as far as it is known
  Counts sources;                   // source_key()
  Counts commands;                  // kind_key()
};

// Commands with the same name are one kind, whatever their secondary encoding.
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

// Who asked for something on the bus that a trace is of: by group << 4 | chip.
struct TracedBus {
  static constexpr size_t kChips = 256;
  std::string name;
  std::array<uint64_t, kChips> chips{};
};

class HotSpots {
 public:
  struct Wishes {
    bool logical = true;          // else by real address
    std::vector<uint64_t> units;  // sizes in which addresses are counted; powers of two
    size_t entries = 1 << 16;     // of each table
  };
  HotSpots(Layout layout, Wishes wishes);

  // Commands of another trace follow. `owners` must outlive them.
  void begin_trace(std::string name, const MemoryOwners& owners) {
    traces_.push_back({.name = std::move(name), .chips = {}});
    owners_.begin_trace(owners);
  }

  // Counts a command with or without an address. Call begin_trace() first.
  void seen(const Command& command);
  // Counts a command with an address; `la` if it is known.
  void command(const Event& event, const Command& command, std::optional<LogicalAddr> la);

  Layout layout() const { return layout_; }
  const Wishes& wishes() const { return wishes_; }
  uint64_t all_commands() const { return seen_; }
  uint64_t commands() const { return commands_; }  // only those with an address
  uint64_t without_address() const { return without_address_; }
  const std::vector<HotTable<HotAddress>>& tables() const { return tables_; }
  const std::vector<TracedBus>& traces() const { return traces_; }
  // By whose memory is meant. Only the addresses are left out.
  const OwnerTable<HotAddress>& owners() const { return owners_; }

 private:
  Layout layout_;
  Wishes wishes_;
  const Names& names_;
  uint64_t seen_ = 0;
  uint64_t commands_ = 0;
  uint64_t without_address_ = 0;
  std::vector<HotTable<HotAddress>> tables_;
  std::vector<TracedBus> traces_;
  OwnerTable<HotAddress> owners_;
  // Room for each entry in the short lists of a table, and in those of the owners.
  static constexpr size_t kListPlaces = 8;
  std::vector<Counts::Room> rooms_;
  Counts::Room owner_room_{1 << 20};
};

}  // namespace htmtrace::nest

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
#include "core/frequent.h"
#include "core/hot_table.h"
#include "core/memory_owners.h"
#include "core/nest_decoder.h"
#include "core/nest_events.h"

namespace htmtrace::nest {

using Frequent = htmtrace::Frequent<uint32_t, 4>;

struct HotAddress {
  static constexpr uint64_t kNoAddress = ~uint64_t{0};
  uint64_t count = 0;
  uint64_t retries = 0;             // answered by one of the rty responses
  uint64_t lowest_la = kNoAddress;  // of the commands, as far as it is known
  Frequent sources;                 // source_key()
  Frequent commands;                // ttype << 8 | tsize
};

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

  // Of a command with an address; `la` as far as it is known.
  void command(const Event& event, const Command& command, std::optional<LogicalAddr> la);

  Layout layout() const { return layout_; }
  const Wishes& wishes() const { return wishes_; }
  uint64_t commands() const { return commands_; }
  uint64_t without_address() const { return without_address_; }
  const std::vector<HotTable<HotAddress>>& tables() const { return tables_; }
  const std::vector<TracedBus>& traces() const { return traces_; }
  // By whose memory is meant. Only the addresses are left out.
  const OwnerTable<HotAddress>& owners() const { return owners_; }

 private:
  Layout layout_;
  Wishes wishes_;
  const Names& names_;
  uint64_t commands_ = 0;
  uint64_t without_address_ = 0;
  std::vector<HotTable<HotAddress>> tables_;
  std::vector<TracedBus> traces_;
  OwnerTable<HotAddress> owners_;
};

}  // namespace htmtrace::nest

// SPDX-License-Identifier: GPL-2.0-or-later
// Which data and code of a core trace are hot, and which code touches the data.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/core_events.h"
#include "core/counts.h"
#include "core/hot_table.h"
#include "core/instruction_class.h"
#include "core/memory_owners.h"
#include "core/radix_walk.h"
#include "core/symbol_cursor.h"
#include "core/symbol_table.h"
#include "core/walk_statistics.h"

namespace htmtrace {

// By which of its addresses data are told apart.
enum class DataKey : uint8_t { kLogical, kReal, kEffective };

// "logical", "real", "effective".
const char* key_name(DataKey key);

// Nothing where the trace does not tell it.
std::optional<uint64_t> address_of(const DataAccess& data, DataKey key);

struct HotData {
  uint64_t count = 0;
  uint64_t loads = 0;
  uint64_t stores = 0;
  uint64_t atomics = 0;
  uint64_t lowest_ea = kNoAddress;  // lowest accessed address, with its owner
  Counts sites;                     // keys of the code that touched it; unknown code has no key
  CountList<1> objects;             // keys of the accessed objects, or kNoObject
  static constexpr uint64_t kNoAddress = ~uint64_t{0};
  static constexpr uint64_t kNoObject = ~uint64_t{0};
};

struct HotCode {
  uint64_t count = 0;
  uint64_t data = 0;  // accesses of it
};

// What was done in the memory of one partition.
struct OwnedWork {
  uint64_t count = 0;  // instructions that lie there
  uint64_t data = 0;   // accesses to it
};

// A sink for CoreDecoder. It accepts several traces.
//
// A key identifies code. The key of named code is the address by which SymbolTable finds the
// symbol, with the owner. The key of other code is the address of its line of 128 bytes. Objects
// have keys of the same kind.
class HotSpots {
 public:
  struct Wishes {
    DataKey key = DataKey::kLogical;
    std::vector<uint64_t> units;  // sizes in which data are counted; powers of two
    size_t entries = 1 << 16;     // in each table; the short lists of a table may use kListPlaces
                                  // places for each entry
    bool walks = false;           // count the walks through page tables, which is slow
    static constexpr size_t kListPlaces = 8;
  };

  // `symbols` must outlive it.
  HotSpots(Wishes wishes, const SymbolTable& symbols);

  // Instructions of another trace follow. `owners` must outlive them.
  void begin_trace(const MemoryOwners& owners) { owners_.begin_trace(owners); }
  void instruction(const Instruction& instruction);
  void stamp(const Stamp&) {}
  void walk(const Walk& walk) { walks_.at(walk.data_side ? 1 : 0).add(walk); }
  void defect(const Defect&) {}

  // Whether walk() is to be called.
  bool wants_walks() const { return wishes_.walks; }

  const Wishes& wishes() const { return wishes_; }
  const SymbolTable& symbols() const { return symbols_; }
  uint64_t instructions() const { return instructions_; }
  uint64_t data_accesses() const { return data_accesses_; }
  uint64_t data_without_address() const { return data_without_address_; }
  uint64_t code_without_address() const { return code_without_address_; }
  uint64_t of_class(InstructionClass kind) const { return classes_.at(static_cast<size_t>(kind)); }
  uint64_t of_privilege(Privilege who) const { return privileges_.at(static_cast<size_t>(who)); }
  const HotTable<HotCode>& code() const { return code_; }
  const OwnerTable<OwnedWork>& owners() const { return owners_; }
  // Of the instruction side and of the data side.
  const std::array<WalkStatistics, 2>& walks() const { return walks_; }
  // In the order of the units.
  const std::vector<HotTable<HotData>>& data() const { return data_; }

 private:
  using Span = SymbolTable::Span;
  // Size of the cache of recent names; most addresses are near their predecessors.
  static constexpr size_t kRecent = 64;
  struct RecentName {
    Span span;
    uint64_t key = 0;
  };

  uint64_t site_of(EffectiveAddr address);
  uint64_t object_of(EffectiveAddr address);
  void count_data(const DataAccess& access, InstructionClass kind, std::optional<uint64_t> site);
  void recount_room(size_t unit);

  Wishes wishes_;
  const SymbolTable& symbols_;
  const bool named_;
  SymbolCursor cursor_;
  RecentName recent_code_;
  std::array<RecentName, kRecent> recent_data_{};
  std::vector<Counts::Room> rooms_;      // room for the lists of each data table
  std::vector<uint64_t> counted_until_;  // each table's error at the last recount
  HotTable<HotCode> code_;
  OwnerTable<OwnedWork> owners_;
  std::vector<HotTable<HotData>> data_;
  uint64_t instructions_ = 0;
  uint64_t data_accesses_ = 0;
  uint64_t data_without_address_ = 0;  // of the kind that data are told apart by
  uint64_t code_without_address_ = 0;
  std::array<uint64_t, kInstructionClasses> classes_{};
  std::array<uint64_t, kPrivileges> privileges_{};
  std::array<WalkStatistics, 2> walks_{};
};

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the hot data and code of a core trace, and the code that accesses the data.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "core/analysis/symbol_cursor.h"
#include "core/analysis/symbol_table.h"
#include "core/base/counts.h"
#include "core/base/hot_table.h"
#include "core/core_trace/events.h"
#include "core/core_trace/instruction_class.h"
#include "core/core_trace/radix_walk.h"
#include "core/core_trace/walk_statistics.h"
#include "core/core_trace/words.h"
#include "core/memory_map/owners.h"

namespace htmtrace {

// The kind of address that identifies data.
enum class DataKey : uint8_t { kLogical, kReal, kEffective };

// "logical", "real", "effective".
const char* key_name(DataKey key);

// Returns nothing if the trace does not report this address.
inline std::optional<uint64_t> address_of(const DataAccess& data, DataKey key) {
  if (key == DataKey::kLogical) return data.has_la ? std::optional(data.la.value) : std::nullopt;
  if (key == DataKey::kReal) return data.has_ra ? std::optional(data.ra.value) : std::nullopt;
  return data.ea.value;
}

struct HotData {
  uint64_t count = 0;
  uint64_t loads = 0;
  uint64_t stores = 0;
  uint64_t atomics = 0;
  uint64_t lowest_ea = kNoAddress;  // lowest accessed address, with its owner
  Counts sites;          // keys of the code that accessed the data; unknown code has no key
  CountList<1> objects;  // keys of the accessed objects, or kNoObject
  static constexpr uint64_t kNoAddress = ~uint64_t{0};
  static constexpr uint64_t kNoObject = ~uint64_t{0};
};

struct HotCode {
  uint64_t count = 0;
  uint64_t data = 0;  // data accesses by the code
};

// Accesses to the memory of one partition.
struct OwnedWork {
  uint64_t count = 0;  // instructions in the memory
  uint64_t data = 0;   // data accesses to the memory
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
    std::vector<uint64_t> units;  // sizes in which the sink counts data; powers of two
    // Entries of each table. The short lists of a table may use kListPlaces slots for each entry.
    size_t entries = 1 << 16;
    bool walks = false;  // count the walks through page tables, which takes time
    static constexpr size_t kListPlaces = 8;
  };

  // `symbols` must outlive this object.
  HotSpots(Wishes wishes, const SymbolTable& symbols);

  // Starts another trace. `owners` must outlive the trace's instructions.
  void begin_trace(const MemoryOwners& owners) { owners_.begin_trace(owners); }

  [[gnu::always_inline]] void instruction(const Instruction& instruction) {
    const InstructionClass kind = class_of(instruction);
    instructions_++;
    classes_[static_cast<size_t>(kind)]++;
    privileges_[static_cast<size_t>(privilege_of(instruction.modes))]++;
    (instruction.has_ra ? owners_.at(instruction.ra) : owners_.unknown()).count++;
    std::optional<uint64_t> site;
    const EffectiveAddr ea = cursor_.code(instruction);
    if (instruction.has_ea && !owned::is_nobodys(instruction.ea.value)) [[likely]] {
      site = site_of(ea);
      if (*site != running_) run(*site);
      run_.count++;
      run_.data += instruction.data_count;
    } else {
      code_without_address_++;
    }
    // No loop: an indexed array would force the accesses into memory.
    if (instruction.data_count > 0) take_data(instruction.data[0], kind, site);
    if (instruction.data_count > 1) [[unlikely]]
      take_data(instruction.data[1], kind, site);
  }

  void stamp(const Stamp&) {}
  void walk(const Walk& walk) { walks_.at(walk.data_side ? 1 : 0).add(walk); }
  void defect(const Defect&) {}

  // Call finish() after the last instruction and before code() and data(): the tables lag.
  void finish();

  // The decoder must call walk().
  bool wants_walks() const { return wishes_.walks; }

  const Wishes& wishes() const { return wishes_; }
  const SymbolTable& symbols() const { return symbols_; }
  uint64_t instructions() const { return instructions_; }
  uint64_t data_accesses() const { return data_accesses_; }
  uint64_t data_without_address() const { return data_without_address_; }
  uint64_t code_without_address() const { return code_without_address_; }
  uint64_t of_class(InstructionClass kind) const { return classes_.at(static_cast<size_t>(kind)); }
  uint64_t of_privilege(Privilege who) const { return privileges_.at(static_cast<size_t>(who)); }
  // Both throw std::logic_error before finish().
  const HotTable<HotCode>& code() const {
    if (run_.count != 0) throw std::logic_error("HotSpots::code() before finish()");
    return code_;
  }
  const OwnerTable<OwnedWork>& owners() const { return owners_; }
  // Instruction side and data side.
  const std::array<WalkStatistics, 2>& walks() const { return walks_; }
  // One table for each unit, in the same order.
  const std::vector<HotTable<HotData>>& data() const {
    if (waiting_count_ != 0) throw std::logic_error("HotSpots::data() before finish()");
    return data_;
  }

 private:
  using Span = SymbolTable::Span;
  // Size of the cache of recent names; most addresses are near their predecessors.
  static constexpr size_t kRecent = 64;
  struct RecentName {
    Span span;
    uint64_t key = 0;
  };

  // An access that no table has counted yet. Traces touch more memory than a cache holds, so the
  // rows of several accesses are loaded at the same time before they are counted.
  struct Waiting {
    uint64_t address = 0;
    uint64_t ea = HotData::kNoAddress;  // with its owner
    uint64_t site = 0;                  // if has_site
    uint64_t object = 0;
    InstructionClass kind = InstructionClass::kUnknown;
    bool has_site = false;
  };
  static constexpr size_t kMostWaiting = 16;

  // The key of the code at this address.
  uint64_t site_of(EffectiveAddr address) {
    return named_ ? named_site_of(address) : address.value & ~(words::kLineBytes - 1);
  }
  uint64_t named_site_of(EffectiveAddr address);
  uint64_t object_of(EffectiveAddr address);

  void take_data(const DataAccess& access, InstructionClass kind, std::optional<uint64_t> site) {
    data_accesses_++;
    (access.has_ra ? owners_.at(access.ra) : owners_.unknown()).data++;
    const std::optional<uint64_t> address = address_of(access, wishes_.key);
    if (!address) {
      data_without_address_++;
      return;
    }
    const EffectiveAddr ea = cursor_.data(access);
    const bool is_nobodys = owned::is_nobodys(access.ea.value);
    for (size_t i = 0; i < data_.size(); i++) data_[i].prefetch(*address & ~(wishes_.units[i] - 1));
    waiting_[waiting_count_++] = {
        .address = *address,
        .ea = is_nobodys ? HotData::kNoAddress : ea.value,
        .site = site.value_or(0),
        .object = named_ && !is_nobodys ? object_of(ea) : HotData::kNoObject,
        .kind = kind,
        .has_site = site.has_value(),
    };
    if (waiting_count_ == kMostWaiting) count_waiting();
  }

  void run(uint64_t site);
  void count_waiting();
  void prefetch_lists(size_t unit);
  void count(size_t unit, const Waiting& access, HotData& hot);
  void count_code();
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
  uint64_t running_ = 0;  // key of the code that runs; code_ does not have its counts yet
  HotCode run_;
  OwnerTable<OwnedWork> owners_;
  std::array<Waiting, kMostWaiting> waiting_{};
  std::array<size_t, kMostWaiting> places_{};  // of their rows in a table
  size_t waiting_count_ = 0;
  std::vector<HotTable<HotData>> data_;
  uint64_t instructions_ = 0;
  uint64_t data_accesses_ = 0;
  uint64_t data_without_address_ = 0;  // accesses without an address of the kind `key`
  uint64_t code_without_address_ = 0;
  std::array<uint64_t, kInstructionClasses> classes_{};
  std::array<uint64_t, kPrivileges> privileges_{};
  std::array<WalkStatistics, 2> walks_{};
};

}  // namespace htmtrace

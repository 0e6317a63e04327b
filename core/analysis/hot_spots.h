// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the hot data and code of a core trace, and the code that accesses the data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/analysis/hot_part.h"
#include "core/analysis/symbol_table.h"
#include "core/base/arrival_table.h"
#include "core/base/counts.h"
#include "core/base/hot_table.h"
#include "core/core_trace/events.h"
#include "core/core_trace/instruction_class.h"
#include "core/core_trace/modes.h"
#include "core/core_trace/radix_walk.h"
#include "core/core_trace/walk_completer.h"
#include "core/core_trace/walk_statistics.h"
#include "core/memory_map/owners.h"
#include "core/memory_map/process.h"

namespace htmtrace {

struct HotData {
  uint64_t count = 0;
  uint64_t loads = 0;
  uint64_t stores = 0;
  uint64_t atomics = 0;
  uint64_t lowest_ea = kNoAddress;  // lowest accessed address, with its owner
  Counts sites;          // keys of the code that accessed the data; unknown code has no key
  CountList<1> objects;  // keys of the accessed objects, or kNoObject
  static constexpr uint64_t kNoAddress = HotPart::kNoAddress;
  static constexpr uint64_t kNoObject = HotPart::kNoObject;
};

// The work of one process.
struct ProcessWork {
  uint64_t count = 0;  // instructions
  uint64_t data = 0;   // their data accesses
};

// A sink for CoreDecoder. It accepts several traces. Several threads can count a trace: they fill
// parts, and one thread adds up the parts in the order of the trace. The counts then depend on the
// parts, but not on the threads.
class HotSpots {
 public:
  struct Wishes {
    DataKey key = DataKey::kLogical;
    std::vector<uint64_t> units;  // sizes in which the sink counts data; powers of two
    // Entries of each table. The short lists of a table may use kListPlaces slots for each entry.
    size_t entries = 1 << 16;
    bool walks = false;      // count the walks through page tables, which takes time
    bool processes = false;  // count the work of each process; requires one thread
    static constexpr size_t kListPlaces = 8;
  };
  using Part = HotPart;

  // `symbols` must outlive this object.
  HotSpots(Wishes wishes, const SymbolTable& symbols);

  // Starts another trace. `owners` must outlive the trace's instructions.
  void begin_trace(const MemoryOwners& owners);
  // The next instructions belong to this process. Parts do not count the work of processes.
  void process(const Process& process) {
    if (wishes_.processes) work_ = &processes_[process.name];
  }

  [[gnu::always_inline]] void instruction(const Instruction& instruction) {
    if (work_ != nullptr) {
      work_->count++;
      work_->data += instruction.data_count;
    }
    own_.instruction(instruction);
    if (own_.is_large()) [[unlikely]]
      take(own_);
  }
  void stamp(const Stamp&) {}
  void walk(const Walk& walk) { own_.walk(walk); }
  void unselected(const Walk& walk) { own_.unselected(walk); }
  void defect(const Defect&) {}

  // Call finish() after the last instruction and before all following functions.
  void finish() { take(own_); }

  // An empty part of the current trace. No thread may call begin_trace() while parts exist.
  HotPart new_part() const;
  // Adds the counts of the part, and clears it.
  void take(HotPart& part);

  // The decoder must call walk() with raw walks.
  bool wants_walks() const { return wishes_.walks; }
  // The reader must call process().
  bool wants_processes() const { return wishes_.processes; }

  const Wishes& wishes() const { return wishes_; }
  const SymbolTable& symbols() const { return symbols_; }
  uint64_t instructions() const { return instructions_; }
  uint64_t data_accesses() const { return mix_.data_accesses; }
  uint64_t data_without_address() const { return mix_.data_without_address; }
  uint64_t code_without_address() const { return mix_.code_without_address; }
  uint64_t of_class(InstructionClass kind) const {
    return mix_.classes.at(static_cast<size_t>(kind));
  }
  uint64_t of_privilege(Privilege who) const {
    return mix_.privileges.at(static_cast<size_t>(who));
  }
  const HotTable<HotCode>& code() const { return code_; }
  const OwnerTable<OwnedWork>& owners() const { return owners_; }
  // The work of each process, by its name or "kernel" or "unknown". Empty without
  // wants_processes().
  const std::map<std::string, ProcessWork>& processes() const { return processes_; }
  // Instruction side and data side.
  const std::array<WalkStatistics, 2>& walks() const { return walks_; }
  // One table for each unit, in the same order.
  const std::vector<HotTable<HotData>>& data() const { return data_; }

 private:
  using Row = ArrivalTable<HotPart::Access, HotPart::Accesses>::Row;
  // Traces touch more memory than a cache holds, so the tables' rows of several accesses are loaded
  // at the same time before they are counted.
  static constexpr size_t kAtOnce = 16;

  void take_data(std::span<const Row> rows);
  void prefetch_lists(size_t unit, std::span<const Row> rows);
  void count(size_t unit, const Row& row, HotData& hot);
  void recount_room(size_t unit);

  Wishes wishes_;
  const SymbolTable& symbols_;
  const bool named_;
  const MemoryOwners* trace_owners_ = nullptr;
  HotPart own_;                          // the events that this sink receives itself
  std::vector<Counts::Room> rooms_;      // room for the lists of each data table
  std::vector<uint64_t> counted_until_;  // each table's error at the last recount
  HotTable<HotCode> code_;
  OwnerTable<OwnedWork> owners_;
  std::array<size_t, kAtOnce> places_{};  // of rows in a table
  std::map<std::string, ProcessWork> processes_;
  ProcessWork* work_ = nullptr;  // of the current process, in processes_; null: not counted
  std::vector<HotTable<HotData>> data_;
  uint64_t instructions_ = 0;
  HotPart::Mix mix_;
  WalkCompleter completer_;
  std::array<WalkStatistics, 2> walks_{};
};

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
// Counts the executions of each instruction address of a core trace: how often its branch was
// taken, its data accesses, and its share of the time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/analysis/control_flow.h"
#include "core/analysis/symbol_cursor.h"
#include "core/analysis/symbol_table.h"
#include "core/base/hot_table.h"
#include "core/core_trace/events.h"

namespace htmtrace {

struct AddressCount {
  static constexpr uint64_t kNoAddress = ~uint64_t{0};

  uint64_t count = 0;  // executions
  uint64_t taken = 0;
  uint64_t not_taken = 0;  // a branch is in neither count if its next instruction is unknown
  uint64_t data = 0;       // data accesses
  uint64_t lowest_ea = kNoAddress;  // of the data, with its owner
  uint64_t highest_ea = 0;
  uint64_t tick_parts = 0;  // in kTickParts of a tick
  uint32_t opcode = 0;      // of the first execution, if has_opcode
  uint32_t prefix = 0;
  bool has_opcode = false;
  bool has_prefix = false;
  bool rewritten = false;  // other executions had another word

  static constexpr uint64_t kTickParts = 1 << 16;
  uint64_t ticks() const { return tick_parts / kTickParts; }
};

// A sink for CoreDecoder that accepts several traces; call end_trace() after each trace.
//
// A stamp states the time since the preceding stamp, and the instructions between them have equal
// shares of it. The hardware does not state more.
class AddressCounts {
 public:
  // The key of an instruction is its address with its owner (core/analysis/symbol_table.h). The
  // table keeps at most `entries` addresses. `symbols` must outlive this object.
  AddressCounts(size_t entries, const SymbolTable& symbols) : cursor_(symbols), counts_(entries) {}

  void instruction(const Instruction& instruction);
  void unselected(const Instruction& instruction) {
    end_branch(instruction);
    between_++;
  }
  void stamp(const Stamp& stamp);
  void unselected(const Stamp& stamp) { this->stamp(stamp); }
  void defect(const Defect&) { skipped(); }
  // Call this function if the next instruction does not follow the last instruction.
  void skipped() { branch_ = kNoBranch; }
  void end_trace() {
    skipped();
    between_ = 0;
    rest_parts_ = 0;
    since_stamp_.clear();
  }

  const HotTable<AddressCount>& counts() const { return counts_; }
  uint64_t instructions() const { return instructions_; }
  uint64_t data_accesses() const { return data_accesses_; }
  // Instructions without an address.
  uint64_t unknown() const { return unknown_; }
  // Ticks that are in no count, because too many instructions precede their stamp.
  uint64_t unshared_ticks() const { return unshared_ticks_; }
  bool has_ticks() const { return has_ticks_; }

 private:
  static constexpr uint64_t kNoBranch = 1;
  // More instructions between two stamps have no measurable share of the time.
  static constexpr size_t kMostBetween = 1 << 20;

  void end_branch(const Instruction& next);

  SymbolCursor cursor_;
  HotTable<AddressCount> counts_;
  std::vector<uint64_t> since_stamp_;  // keys of the selected instructions since the last stamp
  uint64_t between_ = 0;               // all instructions since the last stamp
  uint64_t rest_parts_ = 0;            // of ticks that earlier instructions could not share
  uint64_t branch_ = kNoBranch;        // key of the last instruction if it is a branch
  uint64_t branch_ea_ = 0;
  uint32_t branch_word_ = 0;
  uint64_t instructions_ = 0;
  uint64_t data_accesses_ = 0;
  uint64_t unknown_ = 0;
  uint64_t unshared_ticks_ = 0;
  bool has_ticks_ = false;
};

}  // namespace htmtrace

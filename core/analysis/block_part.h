// SPDX-License-Identifier: GPL-2.0-or-later
// The executions of basic blocks in a part of a core trace. BasicBlocks adds up the parts. Threads
// can follow different parts at the same time.
//
// A block begins at the target of a control transfer. The block ends with a branch, or before an
// instruction that does not follow its predecessor in memory. The address of its first instruction
// identifies the block. An entry into the middle of a block therefore starts a different block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/analysis/control_flow.h"
#include "core/base/arrival_table.h"
#include "core/core_trace/events.h"

namespace htmtrace {

// A sink for CoreDecoder.
class BlockPart {
 public:
  struct Execution {
    uint64_t begin = 0;
    uint64_t instructions = 0;
  };
  struct Counts {
    uint64_t entries = 0;
    uint64_t instructions = 0;
  };
  // The tables of a part with up to this number of executions stay in a processor's cache.
  static constexpr size_t kMostExecutions = 1 << 14;

  [[gnu::always_inline]] void instruction(const Instruction& instruction) {
    if (!instruction.has_ea || !instruction.has_opcode) [[unlikely]] {
      unknown_++;
      skipped();
      return;
    }
    if (instruction.ea.value != next_ || !inside_) enter(instruction.ea.value);
    open_.instructions++;
    next_ = instruction.ea.value + (instruction.has_prefix ? 8 : 4);
    if (!instruction.has_prefix && branch_kind(instruction.opcode) != BranchKind::kNone) leave();
  }
  void stamp(const Stamp& stamp) {
    if (breaks_flow(stamp)) skipped();
  }
  void defect(const Defect&) { skipped(); }

  // The next instruction does not follow the last instruction.
  void skipped() {
    if (is_new_) begins_with_gap_ = true;
    is_new_ = false;
    leave();
  }

  // Returns true if the caller should add up the part and clear it.
  bool is_large() const { return ended_.size() >= kMostExecutions; }

  // Returns true if the last execution of the preceding part ends with that part.
  bool begins_with_gap() const { return begins_with_gap_; }
  // The first execution, if it ended and no gap precedes it. It may continue the last execution of
  // the preceding part: then it begins at next() of that part.
  const std::optional<Execution>& lead() const { return lead_; }
  // The other executions that ended in the part, in order, and their counts by block.
  const std::vector<Execution>& ended() const { return ended_; }
  const ArrivalTable<PlainKey, Counts>& blocks() const { return blocks_; }
  uint64_t ended_instructions() const { return ended_instructions_; }
  // The execution that has not ended at the end of the part. It continues at next().
  std::optional<Execution> open() const { return inside_ ? std::optional(open_) : std::nullopt; }
  // Returns true if the open execution is the first execution, and no gap precedes it.
  bool open_is_lead() const { return open_is_lead_; }
  uint64_t next() const { return next_; }
  // The number of ignored instructions, which have no address or no opcode.
  uint64_t unknown() const { return unknown_; }

  // Keeps the allocated memory.
  void clear();

 private:
  void enter(uint64_t ea);
  void leave();

  std::optional<Execution> lead_;
  std::vector<Execution> ended_;
  ArrivalTable<PlainKey, Counts> blocks_;
  uint64_t ended_instructions_ = 0;
  uint64_t unknown_ = 0;

  bool is_new_ = true;  // no gap and no execution yet
  bool begins_with_gap_ = false;
  bool inside_ = false;
  bool open_is_lead_ = false;
  Execution open_;
  uint64_t next_ = 0;  // address after the last instruction
};

}  // namespace htmtrace

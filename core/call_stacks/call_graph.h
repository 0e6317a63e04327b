// SPDX-License-Identifier: GPL-2.0-or-later
// Counts the calls of a core trace, the instructions at each address, and the jumps. The functions
// and the calls are those of CallStacks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/analysis/symbol_table.h"
#include "core/base/arrival_table.h"
#include "core/base/spread.h"
#include "core/call_stacks/call_part.h"
#include "core/call_stacks/call_stacks.h"
#include "core/call_stacks/call_tree.h"
#include "core/core_trace/events.h"
#include "core/core_trace/sink.h"

namespace htmtrace {

// A sink for CoreDecoder, possibly after a SelectingSink. It accepts several traces. Its memory
// does not depend on their length.
class CallGraph {
 public:
  static constexpr Lead kLead = CallStacks::kLead;

  using Function = CallTree::Function;
  using Part = CallPart;

  // `symbols` must outlive this object.
  explicit CallGraph(const SymbolTable& symbols) : stacks_(symbols, CallTree::Detail::kSites) {}

  CallPart new_part() const { return {}; }
  // Follows the part, and clears it.
  void take(CallPart& part);

  void instruction(const Instruction& instruction) {
    part_.instruction(instruction);
    if (part_.steps().size() >= kMostSteps) take(part_);
  }
  void unselected(const Instruction& instruction) {
    part_.unselected(instruction);
    if (part_.steps().size() >= kMostSteps) take(part_);
  }
  void stamp(const Stamp& stamp) { part_.stamp(stamp); }
  void unselected(const Stamp& stamp) { part_.unselected(stamp); }
  void defect(const Defect& defect) { part_.defect(defect); }

  void begin_trace() { stacks_.begin_trace(); }
  // Call end_trace() after each trace.
  void end_trace();

  // Instructions that followed each other, in one function.
  struct Block {
    uint64_t begin = 0;  // with its owner
    Function function = CallTree::kUnnamed;
    uint32_t instructions = 0;
    bool has_prefix = false;  // the first instruction
    bool operator==(const Block&) const = default;
    // Without the secret factor, a trace could choose blocks with equal hashes.
    uint64_t hash() const {
      const uint64_t rest = uint64_t{function} << 32 | instructions << 1 | (has_prefix ? 1 : 0);
      return begin ^ rest * kHashSecret.factor;
    }
    // The address of the second instruction.
    uint64_t second() const { return begin + (has_prefix ? 8 : 4); }
  };
  // A branch that was taken, and is neither a call nor a return. Addresses have their owners.
  struct Jump {
    uint64_t from = 0;
    uint64_t to = 0;
    Function from_function = CallTree::kUnnamed;
    Function to_function = CallTree::kUnnamed;
    bool operator==(const Jump&) const = default;
    uint64_t hash() const { return from ^ to * kHashSecret.factor; }
  };
  struct Taken {
    uint64_t count = 0;
    bool is_conditional = false;
  };
  // The position of the block's count in executions().
  struct Number {
    uint32_t value = 0;
  };
  using Blocks = ArrivalTable<Block, Number>;
  using Jumps = ArrivalTable<Jump, Taken>;

  const CallStacks& stacks() const { return stacks_; }
  const CallTree& tree() const { return stacks_.tree(); }
  const std::vector<Blocks::Row>& blocks() const { return counts_.blocks.rows(); }
  // How often each block ran, in the order of blocks().
  const std::vector<uint64_t>& executions() const { return counts_.executions; }
  const std::vector<Jumps::Row>& jumps() const { return counts_.jumps.rows(); }
  // Selected instructions, and those of them that are in no block because the table is full.
  uint64_t instructions() const;
  uint64_t without_block() const { return counts_.without_block; }
  uint64_t jumps_left_out() const { return counts_.jumps_left_out; }

 private:
  static constexpr size_t kMostSteps = 1 << 12;
  static constexpr unsigned kRecentBits = 12;
  // A program of 32 MB of code has about this number of blocks.
  static constexpr size_t kMostBlocks = 1 << 20;
  static constexpr size_t kMostJumps = 1 << 20;
  static constexpr uint32_t kLongestBlock = 1 << 16;

  // The visitor of the stacks.
  struct Counts {
    void code(const CallStacks::Stretch& stretch) {
      if (jumps_from_last) [[unlikely]]
        end_jump(stretch);
      if (!stretch.selected) return close();
      if (stretch.begin == next && stretch.begin != 0 && stretch.function == open.function &&
          !stretch.has_prefix && open.instructions < kLongestBlock) [[likely]] {
        open.instructions += stretch.instructions;
        next += 4 * uint64_t{stretch.instructions};
      } else {
        begin_block(stretch);
      }
      if (stretch.instructions == 1) look_for_jump(stretch);
    }
    void gap() {
      close();
      jumps_from_last = false;
    }

    void begin_block(const CallStacks::Stretch& stretch);
    void close();
    void count_block(uint32_t& number);
    void look_for_jump(const CallStacks::Stretch& stretch);
    void end_jump(const CallStacks::Stretch& stretch);

    Blocks blocks;
    std::vector<uint64_t> executions;
    // Positions of recent blocks in `executions`. This is faster than a search in `blocks`.
    std::array<uint32_t, size_t{1} << kRecentBits> recent{};
    Jumps jumps;
    Block open;  // without instructions: no block
    // The address that continues it; 1 is no address of an instruction. 0 is not used: a block ends
    // with the address space.
    uint64_t next = 1;
    Jump last;  // the last instruction, if jumps_from_last
    uint32_t last_opcode = 0;
    bool jumps_from_last = false;
    uint64_t without_block = 0;
    uint64_t jumps_left_out = 0;
  };

  CallStacks stacks_;
  Counts counts_;
  CallPart part_;  // the events that did not arrive in parts
};

}  // namespace htmtrace

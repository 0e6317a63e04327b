// SPDX-License-Identifier: GPL-2.0-or-later
// The executed code of one program file as a graph of basic blocks. The edges of the traces
// determine the executions of all blocks, and the outcomes of conditional branches.
//
// Interrupts and calls hide where control went: the next instruction of the trace is in the
// kernel or in the function. The flow returns later to a successor of the block. Each execution of
// a block leads to one of its successors, so the executions of a block without a known predecessor
// belong to the executions of its predecessors without a known successor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/coverage/code_edges.h"
#include "core/coverage/code_files.h"

namespace htmtrace {

class Flow {
 public:
  // The code of `file`. Addresses are those in the file.
  Flow(const CodeEdges& edges, const CodeFiles::File& file);

  // Instructions that always ran one after the other, the same number of times. Control arrives at
  // the first instruction, and leaves after the last one. A call ends a block.
  struct Block {
    uint64_t begin = 0;
    uint64_t end = 0;
    uint64_t count = 0;  // executions; not 0
  };
  // In the order of their addresses.
  const std::vector<Block>& blocks() const { return blocks_; }
  static constexpr uint32_t kNone = ~uint32_t{0};
  // The block of the address, or kNone if the address did not run.
  uint32_t block_at(uint64_t address) const;
  // The first block that ends after the address; or the number of blocks.
  uint32_t first_after(uint64_t address) const;
  uint64_t executions(uint64_t address) const {
    const uint32_t block = block_at(address);
    return block == kNone ? 0 : blocks_[block].count;
  }

  // The passages from a block to a successor in the same function. A call is followed by the
  // instruction to which it returns.
  struct Arc {
    uint32_t from = 0;
    uint32_t to = 0;
    uint64_t count = 0;
  };
  // The arcs that lead to the block.
  std::span<const Arc> arcs_to(uint32_t block) const {
    return std::span(arcs_).subspan(first_arc_[block], first_arc_[block + 1] - first_arc_[block]);
  }

  // An executed conditional branch. `unknown` executions have no known outcome.
  struct Branch {
    uint64_t address = 0;
    uint64_t taken = 0;
    uint64_t not_taken = 0;
    uint64_t unknown = 0;
  };
  // In the order of their addresses.
  const std::vector<Branch>& branches() const { return branches_; }

  // The number of times that control arrived at `address`, apart from loops in the code from
  // `address` to `end`.
  uint64_t arrivals(uint64_t address, uint64_t end) const;

  // The number of times that control arrived at the blocks from other code, or began another
  // iteration of a loop within the blocks. Requires that `set` is sorted and has each block once.
  uint64_t entries(std::span<const uint32_t> set) const;

 private:
  class Building;

  std::vector<Block> blocks_;
  std::vector<Arc> arcs_;          // sorted by the blocks to which they lead
  std::vector<size_t> first_arc_;  // to each block, in arcs_
  std::vector<Branch> branches_;
};

}  // namespace htmtrace

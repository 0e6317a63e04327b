// SPDX-License-Identifier: GPL-2.0-or-later
// In which call stacks instructions ran, by following calls, returns, interrupts and system calls.
// A trace starts in the middle of a program: what called what is known from the first call on.
// Where a return leads to no known caller (a switch to another thread, a gap in the trace), the
// stack is begun anew; nothing is guessed.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/control_flow.h"
#include "core/core_events.h"
#include "core/symbol_table.h"

namespace htmtrace {

// A sink for CoreDecoder; several traces may go through it.
class CallStacks {
 public:
  // `symbols` must outlive it. Of functions without a name it takes the address that was called.
  explicit CallStacks(const SymbolTable& symbols);

  void instruction(const Instruction& instruction) {
    if (!instruction.has_ea || !instruction.has_opcode) [[unlikely]] {
      unknown_++;
      skipped();
      return;
    }
    const uint64_t ea = instruction.ea.value;
    // Most go on behind the one before, in the same function.
    if (ea != next_ || last_link_ != Link::kNone || ea - part_first_ >= part_bytes_) arrive(ea);
    nodes_[leaf_].instructions++;
    next_ = ea + (instruction.has_prefix ? 8 : 4);
    last_link_ = instruction.has_prefix ? Link::kNone : link_of(instruction.opcode);
  }
  void stamp(const Stamp& stamp) {
    if (breaks_flow(stamp)) skipped();
  }
  void defect(const Defect&) { skipped(); }

  // What follows does not follow what was before.
  void skipped();

  // "outer;inner;leaf COUNT" and a newline for each stack, sorted.
  std::string folded() const;

  // The stack that the last instruction ran in, a node of a tree whose root is no function.
  static constexpr uint32_t kRoot = 0;
  uint32_t here() const { return leaf_; }
  uint32_t outer(uint32_t node) const { return nodes_[node].parent; }
  const std::string& function_name(uint32_t node) const {
    return functions_[nodes_[node].function].name;
  }

  uint64_t unknown() const { return unknown_; }  // instructions without address or word
  uint64_t restarts() const { return restarts_; }
  uint64_t cut() const { return cut_; }  // calls that went too deep, or made too many stacks

 private:
  // What the instruction before did to the stack.
  enum class Link : uint8_t { kNone, kCall, kReturn, kBranch, kSystemCall, kInterruptReturn };
  static Link link_of(uint32_t opcode);

  struct Function {
    std::string name;
    bool is_symbol = false;  // else it is known by the address where it was entered
  };
  struct Frame {
    uint32_t function = 0;  // the one that called, or was interrupted
    uint32_t node = 0;      // of the tree, that it ran in
    uint64_t back = 0;      // where it goes on
    bool interrupted = false;
  };
  struct Node {
    uint32_t parent = 0;
    uint32_t function = 0;
    uint64_t instructions = 0;
  };
  static constexpr size_t kMostFrames = 512;
  static constexpr size_t kMostNodes = 1 << 20;
  static constexpr uint32_t kNowhere = 0;  // the function of the root

  void arrive(uint64_t ea);
  bool follow(Link link, uint64_t ea, uint64_t behind);
  void push(bool interrupted, uint64_t back);
  bool pop_to(uint64_t back, bool interrupted);
  void restart();
  void set_part(uint64_t ea, bool entered);
  void settle();
  uint32_t number_of(const std::string& name, bool is_symbol);

  const SymbolTable& symbols_;
  std::vector<Function> functions_;  // by number
  std::unordered_map<std::string, uint32_t> numbers_;
  std::vector<Node> nodes_;
  std::unordered_map<uint64_t, uint32_t> children_;  // by parent and function
  std::vector<Frame> frames_;                        // from the outermost
  uint32_t leaf_ = kRoot;
  uint32_t function_ = kNowhere;  // that runs

  // The addresses that belong to function_ as far as is known.
  uint64_t part_first_ = 0;
  uint64_t part_bytes_ = 0;

  uint64_t next_ = 0;
  Link last_link_ = Link::kNone;
  bool lost_ = true;
  uint64_t unknown_ = 0;
  uint64_t restarts_ = 0;
  uint64_t cut_ = 0;
};

}  // namespace htmtrace

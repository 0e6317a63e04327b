// SPDX-License-Identifier: GPL-2.0-or-later
// The instructions of a part of a core trace, for CallStacks. Threads can collect different parts
// at the same time, and CallStacks follows them in order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/analysis/control_flow.h"
#include "core/call_stacks/stack_pointer.h"
#include "core/core_trace/events.h"
#include "core/core_trace/modes.h"

namespace htmtrace {

// Whether the instruction is `li r0,NUMBER`, which precedes a system call with this number.
constexpr bool loads_call_number(uint32_t opcode) {
  constexpr uint32_t kLoadImmediateR0 = 0x38000000;  // Power ISA 3.1, Book I, 3.3.9: addi 0,0
  return (opcode & 0xffff0000) == kLoadImmediateR0;
}

// A sink for CoreDecoder, possibly after a SelectingSink. Most instructions follow their
// predecessor and change no stack. The part stores only the opcodes of such a run, with the step of
// the instruction that precedes the run.
class CallPart {
 public:
  // The members that CallStacks needs of an instruction, and the run that follows it.
  struct Step {
    uint64_t ea = 0;
    uint64_t la = 0;
    uint64_t data_ea = 0;  // of the first access
    uint32_t opcode = 0;
    uint32_t prefix = 0;
    uint32_t words = 0;      // index of the run's first opcode in words_
    uint16_t run = 0;        // number of instructions in the run
    uint16_t last_load = 0;  // number of the run's last `li r0`, from 1; 0: none
    Modes modes = {};
    bool gap = false;       // no instruction: the next one does not follow the preceding one
    bool selected = false;  // the instruction and its run
    bool has_ea = false, has_la = false, has_opcode = false, has_prefix = false, has_data = false;
  };

  void instruction(const Instruction& instruction) { take(instruction, true); }
  void unselected(const Instruction& instruction) { take(instruction, false); }
  void stamp(const Stamp& stamp) {
    if (breaks_flow(stamp)) skip();
  }
  void unselected(const Stamp& stamp) { this->stamp(stamp); }
  void defect(const Defect&) { skip(); }

  const std::vector<Step>& steps() const { return steps_; }
  // The opcodes of the step's run.
  std::span<const uint32_t> words(const Step& step) const {
    return std::span(words_).subspan(step.words, step.run);
  }
  // Has only the members that CallStacks needs.
  static Instruction instruction_of(const Step& step);
  // The address of the first instruction of the run.
  static uint64_t run_ea(const Step& step) { return step.ea + (step.has_prefix ? 8 : 4); }

  // Keeps the allocated memory.
  void clear() {
    steps_.clear();
    words_.clear();
    open_ = false;
  }

 private:
  static constexpr uint64_t kPageBytes = 4096;  // of the smallest pages

  void take(const Instruction& instruction, bool selected) {
    if (open_ && continues(steps_.back(), instruction) && selected == steps_.back().selected)
        [[likely]] {
      Step& step = steps_.back();
      step.run++;
      if (loads_call_number(instruction.opcode)) step.last_load = step.run;
      words_.push_back(instruction.opcode);
      next_ += 4;
    } else {
      begin(instruction, selected);
    }
  }

  // Whether the instruction belongs to the run of `step`. A run stays in one page, so that its
  // effective and logical addresses have the same difference as those of the step.
  bool continues(const Step& step, const Instruction& instruction) const {
    return instruction.has_ea && instruction.ea.value == next_ && (step.ea ^ next_) < kPageBytes &&
           instruction.has_opcode && !instruction.has_prefix && instruction.modes == step.modes &&
           instruction.has_la == step.has_la &&
           (!step.has_la || instruction.la.value - next_ == step.la - step.ea) &&
           branch_kind(instruction.opcode) == BranchKind::kNone &&
           !may_name_stack_pointer(instruction.opcode);
  }

  void begin(const Instruction& instruction, bool selected);

  void skip() {
    if (steps_.empty() || !steps_.back().gap) steps_.push_back({.gap = true});
    open_ = false;
  }

  std::vector<Step> steps_;
  std::vector<uint32_t> words_;
  uint64_t next_ = 0;  // address of the instruction that can continue the run
  bool open_ = false;  // the last step can have a longer run
};

}  // namespace htmtrace

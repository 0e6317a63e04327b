// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/call_stacks/call_part.h"

#include "core/analysis/symbol_table.h"

namespace htmtrace {

void CallPart::begin(const Instruction& instruction, bool selected) {
  Step& step = steps_.emplace_back();
  step.ea = instruction.ea.value;
  step.la = instruction.la.value;
  step.data_ea = instruction.data[0].ea.value;
  step.opcode = instruction.opcode;
  step.prefix = instruction.prefix;
  step.words = static_cast<uint32_t>(words_.size());
  step.modes = instruction.modes;
  step.selected = selected;
  step.has_ea = instruction.has_ea;
  step.has_la = instruction.has_la;
  step.has_opcode = instruction.has_opcode;
  step.has_prefix = instruction.has_prefix;
  step.has_data = instruction.data_count != 0;
  open_ = instruction.has_ea && instruction.has_opcode && !owned::is_nobodys(step.ea) &&
          (instruction.has_prefix || branch_kind(step.opcode) == BranchKind::kNone);
  next_ = run_ea(step);
}

Instruction CallPart::instruction_of(const Step& step) {
  Instruction instruction;
  instruction.ea.value = step.ea;
  instruction.la.value = step.la;
  instruction.opcode = step.opcode;
  instruction.prefix = step.prefix;
  instruction.has_ea = step.has_ea;
  instruction.has_la = step.has_la;
  instruction.has_opcode = step.has_opcode;
  instruction.has_prefix = step.has_prefix;
  instruction.modes = step.modes;
  if (step.has_data) instruction.add_data({step.data_ea});
  return instruction;
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/analysis/process_follower.h"

#include "core/analysis/symbol_table.h"

namespace htmtrace {

// A POWER8 trace does not report the privilege. In such a trace, code at a user address with
// translation is user code.
ProcessFollower::Side ProcessFollower::side_by_address(const Instruction& instruction) {
  const Modes modes = instruction.modes;
  if (!instruction.has_ea || owned::is_nobodys(instruction.ea.value)) return Side::kUnknown;
  if (!owned::is_user(instruction.ea.value)) return Side::kKernel;
  if ((modes.known & Modes::kIr) == 0) return Side::kUnknown;
  return modes.is(Modes::kIr) ? Side::kUser : Side::kKernel;
}

bool ProcessFollower::Step::reaches(uint64_t ea) const {
  if (ea == end) return true;
  if (!is_word || branch_kind(opcode) == BranchKind::kNone) return false;
  return !is_direct_branch(opcode) || ea == direct_target(opcode, end - 4);
}

// Returns whether this instruction can follow the last instruction, although it is not the next
// instruction in memory. It must be the target of a branch, or an interrupt vector. After a change
// to or from the hypervisor, the core may run another virtual processor.
// A return from the kernel must reach the interrupted instruction. At another instruction, the
// kernel delivers a signal or runs another thread, or the core runs another virtual processor.
bool ProcessFollower::jumps_to(const Instruction& instruction, Side side) {
  if (last_side_ == Side::kUser && side != Side::kUser) {
    was_user_ = true;
    last_user_ = last_;
  }
  if (!instruction.has_ea || (instruction.modes.bits & Modes::kHv) != hypervisor_bit_) return false;
  const uint64_t ea = instruction.ea.value;
  if (side != Side::kUser && is_interrupt_vector(ea)) return true;
  if (!last_.is_known) return false;
  // If the trace lacks the kernel code of a system call, another process may have run.
  if (is_system_call(last_.opcode)) return side == Side::kKernel;
  if (!last_.reaches(ea)) return false;
  if (side != Side::kUser || last_side_ == Side::kUser || !was_user_) return true;
  if (is_system_call(last_user_.opcode)) return ea == last_user_.end || ea + 4 == last_user_.end;
  return last_user_.is_known && last_user_.reaches(ea);
}

}  // namespace htmtrace

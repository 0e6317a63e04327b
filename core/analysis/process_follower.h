// SPDX-License-Identifier: GPL-2.0-or-later
// Follows one core trace and finds the process to which each instruction belongs.
//
// Only the kernel changes the address space of a processor. A stretch is a part of the trace
// between two changes, so all its user code belongs to one process. The follower knows this process
// when the user code accesses a page that only one process owns (PageOwners::user()). A stretch
// ends where
// - the trace shows a change of the address space,
// - the hypervisor may have given the core to another virtual processor,
// - the trace has a gap, or may lack kernel code.
//
// The proof may follow the instructions whose process it proves. The follower holds these
// instructions until the proof arrives, but at most kMostHeld events. After that number, it passes
// on the held instructions and all user code up to the proof as unknown.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "core/analysis/control_flow.h"
#include "core/analysis/page_owners.h"
#include "core/core_trace/events.h"
#include "core/core_trace/instruction_class.h"
#include "core/core_trace/radix_walk.h"
#include "core/memory_map/process.h"

namespace htmtrace {

// True if the address space may change at this privileged instruction. Power ISA 3.1:
// - mtspr to PIDR or LPIDR (Book III, 5.4.4)
// - slbie, slbieg and slbia, which Linux uses to switch processes with a hash page table (Book III,
//   6.9.3)
// - sc 1: during a call, the hypervisor may run another virtual processor (Book III, 4.3.1)
constexpr bool changes_address_space(uint32_t word) {
  constexpr uint32_t kSprMask = 0xfc1fffff, kToPidr = 0x7c100ba6, kToLpidr = 0x7c1f4ba6;
  constexpr uint32_t kHypercall = 0x44000022;
  constexpr unsigned kSlbie = 434, kSlbieg = 466, kSlbia = 498;
  if (word == kHypercall) return true;
  if (control_flow::primary(word) != 31) return false;
  const unsigned extended = control_flow::extended(word);
  return (word & kSprMask) == kToPidr || (word & kSprMask) == kToLpidr || extended == kSlbie ||
         extended == kSlbieg || extended == kSlbia;
}

class ProcessFollower {
 public:
  static constexpr size_t kMostHeld = 1 << 16;

  // `owners` must outlive this object and the processes that it passes on.
  explicit ProcessFollower(const PageOwners& owners) : owners_(&owners) {}

  // These functions pass the events on, in the same order, now or in a later call. `Next` has the
  // functions instruction(), stamp(), walk(), defect() and process(const Process&). A call of
  // process() precedes the instructions of the process.
  template <class Next>
  void instruction(const Instruction& instruction, Next& next) {
    const Side side = side_of(instruction);
    if (!flows(instruction, side)) [[unlikely]]
      end_stretch(next);
    step(instruction, side);
    if (side == Side::kUser && instruction.data_count != 0) {
      const Process* const process = process_of(instruction);
      if (process != nullptr && process != owner_) [[unlikely]]
        prove(*process, next);
    }
    if (owner_ == nullptr && !full_ && (side == Side::kUser || !held_.empty())) [[unlikely]] {
      hold(instruction, next);
    } else {
      pass(instruction, side, next);
    }
    if (side != Side::kUser && may_change_address_space(instruction)) end_stretch(next);
  }

  template <class Next>
  void stamp(const Stamp& stamp, Next& next) {
    if (breaks_flow(stamp)) break_flow(next);
    between(stamp, next);
  }
  template <class Next>
  void walk(const Walk& walk, Next& next) {
    between(walk, next);
  }
  template <class Next>
  void defect(const Defect& defect, Next& next) {
    break_flow(next);
    next.defect(defect);
  }
  // Passes on the held events. Call it at the end of the trace.
  template <class Next>
  void finish(Next& next) {
    break_flow(next);
  }

  // How often a stretch with a proven process accessed a page of a different process. The trace
  // does not show where the core changed to this process.
  uint64_t contradictions() const { return contradictions_; }

 private:
  enum class Side : uint8_t { kUnknown, kUser, kKernel };
  static constexpr uint64_t kNoPage = 1;
  static constexpr uint64_t kNoAddress = 1;     // no instruction has this address
  static constexpr uint64_t kPageBytes = 4096;  // the smallest page size of a process
  struct Page {
    uint64_t ea = kNoPage;
    uint64_t la = kNoPage;
    const Process* process = nullptr;
  };
  // The facts about an instruction that determine which instructions can follow it.
  struct Step {
    uint64_t end = 0;  // the address after the instruction
    uint32_t opcode = 0;
    bool is_word = false;   // the opcode is known and has no prefix
    bool is_known = false;  // the address and the opcode are known

    // Returns whether the instruction can branch to this address, or continue there.
    bool reaches(uint64_t ea) const;
  };
  // A stamp or walk, and the number of held instructions that precede it.
  struct Between {
    size_t after = 0;
    std::variant<Stamp, Walk> event;
  };

  static Side side_of(const Instruction& instruction) {
    const Privilege privilege = privilege_of(instruction.modes);
    if (privilege == Privilege::kUnknown) [[unlikely]]
      return side_by_address(instruction);
    return privilege == Privilege::kUser ? Side::kUser : Side::kKernel;
  }
  static Side side_by_address(const Instruction& instruction);

  // Returns whether the instruction can follow its predecessor on the same virtual processor.
  bool flows(const Instruction& instruction, Side side) {
    const bool same_level = (instruction.modes.bits & Modes::kHv) == hypervisor_bit_;
    if (instruction.ea.value == next_ea_ && same_level && instruction.has_ea) [[likely]]
      return true;
    return !stepped_ || jumps_to(instruction, side);
  }
  bool jumps_to(const Instruction& instruction, Side side);
  void step(const Instruction& instruction, Side side) {
    stepped_ = true;
    last_.end = instruction.ea.value + (instruction.has_prefix ? 8 : 4);
    last_.opcode = instruction.opcode;
    last_.is_word = instruction.has_opcode && !instruction.has_prefix;
    last_.is_known = instruction.has_opcode && instruction.has_ea;
    next_ea_ = last_.end;
    if (!last_.is_known || is_system_call(last_.opcode)) [[unlikely]]
      next_ea_ = kNoAddress;
    last_side_ = side;
    hypervisor_bit_ = instruction.modes.bits & Modes::kHv;
  }
  // sc and scv (Power ISA 3.1, Book I, 2.3)
  static bool is_system_call(uint32_t word) { return control_flow::primary(word) == 17; }
  static bool may_change_address_space(const Instruction& instruction) {
    return !instruction.has_opcode ||
           (!instruction.has_prefix && changes_address_space(instruction.opcode));
  }

  // The process that the instruction's data accesses prove, or null. Requires an access.
  [[gnu::always_inline]] const Process* process_of(const Instruction& instruction) {
    const DataAccess& first = instruction.data[0];
    const Process* const process = first.has_la ? process_at(first) : nullptr;
    if (process != nullptr || instruction.data_count == 1) [[likely]]
      return process;
    const DataAccess& second = instruction.data[1];
    return second.has_la ? process_at(second) : nullptr;
  }
  const Process* process_at(const DataAccess& access) {
    const uint64_t ea = access.ea.value & ~(kPageBytes - 1);
    const uint64_t la = access.la.value & ~(kPageBytes - 1);
    Page& page = pages_[(ea / kPageBytes ^ la / kPageBytes) % pages_.size()];
    if (page.ea != ea || page.la != la) [[unlikely]] {
      page = {.ea = ea, .la = la, .process = owners_->user({ea}, {la})};
    }
    return page.process;
  }

  template <class Next>
  void prove(const Process& process, Next& next) {
    if (owner_ != nullptr) contradictions_++;
    owner_ = &process;
    release(next);
  }
  template <class Next>
  void end_stretch(Next& next) {
    release(next);
    owner_ = nullptr;
    full_ = false;
  }
  template <class Next>
  void break_flow(Next& next) {
    end_stretch(next);
    stepped_ = false;
    was_user_ = false;
  }

  template <class Next>
  void hold(const Instruction& instruction, Next& next) {
    held_.push_back(instruction);
    limit(next);
  }
  template <class Event, class Next>
  void between(const Event& event, Next& next) {
    if (held_.empty()) return pass_between(event, next);
    between_.push_back({.after = held_.size(), .event = event});
    limit(next);
  }
  template <class Next>
  void limit(Next& next) {
    if (held_.size() + between_.size() < kMostHeld) return;
    full_ = true;
    release(next);
  }

  template <class Next>
  [[gnu::always_inline]] void pass(const Instruction& instruction, Side side, Next& next) {
    const Process* const process = side == Side::kUser && owner_ != nullptr ? owner_
                                   : side == Side::kKernel                  ? &Process::kernel()
                                                                            : &Process::unknown();
    if (process != passed_) {
      passed_ = process;
      next.process(*process);
    }
    next.instruction(instruction);
  }
  template <class Next>
  static void pass_between(const Stamp& stamp, Next& next) {
    next.stamp(stamp);
  }
  template <class Next>
  static void pass_between(const Walk& walk, Next& next) {
    next.walk(walk);
  }

  // Passes on the held events, which belong to `owner_`.
  template <class Next>
  [[gnu::noinline]] void release(Next& next) {
    size_t done = 0;
    const auto pass_until = [&](size_t end) {
      for (; done < end; done++) pass(held_[done], side_of(held_[done]), next);
    };
    for (const Between& one : between_) {
      pass_until(one.after);
      std::visit([&](const auto& event) { pass_between(event, next); }, one.event);
    }
    pass_until(held_.size());
    held_.clear();
    between_.clear();
  }

  const PageOwners* owners_;
  std::array<Page, 256> pages_{};
  // State of the stretch.
  const Process* owner_ = nullptr;  // null: not proven yet
  bool full_ = false;               // kMostHeld was reached
  // The last instruction.
  bool stepped_ = false;  // false: no instruction since the last break_flow()
  Side last_side_ = Side::kUnknown;
  uint16_t hypervisor_bit_ = 0;
  uint64_t next_ea_ = 0;  // kNoAddress: jumps_to() checks the next instruction
  Step last_;
  // The last instruction of user code that precedes the current kernel code.
  bool was_user_ = false;  // false: no user code since the last break_flow()
  Step last_user_;
  const Process* passed_ = nullptr;
  std::vector<Instruction> held_;
  std::vector<Between> between_;
  uint64_t contradictions_ = 0;
};

}  // namespace htmtrace

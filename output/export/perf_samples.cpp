// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/export/perf_samples.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "core/base/counted.h"
#include "core/core_trace/access_shape.h"
#include "core/core_trace/instruction_class.h"

namespace htmtrace {
namespace {

using namespace perf_file;

// include/uapi/linux/perf_event.h has all numbers below. enum perf_callchain_context:
constexpr uint64_t kHypervisorCallers = static_cast<uint64_t>(-32),
                   kKernelCallers = static_cast<uint64_t>(-128),
                   kUserCallers = static_cast<uint64_t>(-512);

// Types of branches: PERF_BR_*.
constexpr unsigned kCond = 1, kUncond = 2, kIndirect = 3, kCall = 4, kIndirectCall = 5, kRet = 6,
                   kSyscall = 7, kCondCall = 9, kCondRet = 10, kExceptionRet = 11, kInterrupt = 12;
constexpr unsigned kTypeShift = 20;  // in the flags of perf_branch_entry

// No process has these numbers (PID_MAX_LIMIT of Linux).
constexpr uint64_t kUnknownContext = uint64_t{0xffffffff} << 32;

// union perf_mem_data_src: all fields that htmtrace cannot know are "not available".
constexpr uint64_t kOpUnknown = 1, kOpLoad = 2, kOpStore = 4;
constexpr uint64_t kLevelUnknown = 1 << 5, kSnoopUnknown = 1 << 19, kLockUnknown = 1 << 24,
                   kLocked = 2 << 24, kTlbUnknown = 1 << 26,
                   kLevelNumberUnknown = uint64_t{0xf} << 33;
constexpr uint64_t kSourceUnknown =
    kLevelUnknown | kSnoopUnknown | kTlbUnknown | kLevelNumberUnknown;

constexpr uint64_t kNoAccess = kOpUnknown | kLockUnknown | kSourceUnknown;

uint64_t data_source(const Instruction& instruction) {
  if (instruction.data_count == 0 || !instruction.has_opcode) return kNoAccess;
  const AccessShape shape = access_shape(instruction);
  const uint64_t op = (shape.reads ? kOpLoad : 0) | (shape.writes ? kOpStore : 0);
  const bool atomic = class_of(instruction) == InstructionClass::kAtomic;
  return (op == 0 ? kOpUnknown : op) | (atomic ? kLocked : kLockUnknown) | kSourceUnknown;
}

// The type of the branch from an instruction with this opcode to `to`.
unsigned branch_type(uint32_t opcode, uint64_t from, uint64_t to) {
  const BranchKind kind = branch_kind(opcode);
  if (kind == BranchKind::kNone) return kInterrupt;
  const unsigned primary = control_flow::primary(opcode);
  if (primary == 17) return kSyscall;
  const bool direct = is_direct_branch(opcode);
  if (direct ? to != direct_target(opcode, from) : is_interrupt_vector(to)) return kInterrupt;
  const bool conditional = kind == BranchKind::kConditional;
  if (sets_link(opcode)) return !direct ? kIndirectCall : conditional ? kCondCall : kCall;
  if (returns_by_link(opcode)) return conditional ? kCondRet : kRet;
  if (direct) return conditional ? kCond : kUncond;
  const unsigned extended = control_flow::extended(opcode);
  return extended == 528 || extended == 560 ? kIndirect : kExceptionRet;  // bcctr, bctar
}

uint64_t callers_of(PerfMode mode) {
  switch (mode) {
    case PerfMode::kUser:
      return kUserCallers;
    case PerfMode::kHypervisor:
      return kHypervisorCallers;
    case PerfMode::kKernel:
      break;
  }
  return kKernelCallers;
}

}  // namespace

std::string describe(const PerfSampleCounts& counts) {
  std::string text = fmt::format("{} of {}", counted(counts.samples, "sample"),
                                 counted(counts.instructions, "instruction"));
  if (counts.without_address != 0) {
    text += fmt::format("; {} without an address omitted",
                        counted(counts.without_address, "instruction"));
  }
  return text;
}

// A kernel on bare metal runs in hypervisor mode. The partition's hypervisor has no kernel
// addresses. If a trace has no modes, only addresses distinguish the program from the kernel.
PerfMode perf_mode_of(const Instruction& instruction) {
  const bool low = owned::is_user(instruction.ea.value);
  switch (privilege_of(instruction.modes)) {
    case Privilege::kUser:
      return PerfMode::kUser;
    case Privilege::kKernel:
      return PerfMode::kKernel;
    case Privilege::kHypervisor:
    case Privilege::kUltravisor:
      return low ? PerfMode::kHypervisor : PerfMode::kKernel;
    case Privilege::kUnknown:
      break;
  }
  const bool real =
      (instruction.modes.known & Modes::kIr) != 0 && !instruction.modes.is(Modes::kIr);
  return low && !real ? PerfMode::kUser : PerfMode::kKernel;
}

PerfSamples::PerfSamples(TextOutput& output, const PerfSampling& sampling,
                         const SymbolTable& symbols, const PerfMaps& maps, bool follows_processes)
    : records_(output, sampling, maps),
      sampling_(sampling),
      maps_(maps),
      follows_processes_(follows_processes),
      mapped_(maps.programs.size()),
      stacks_(symbols),
      chain_(kMostCallers + kMostMarkers),
      branches_(sampling.branches == 0 ? 0 : 4 * kBranchWords * (sampling.branches + 1)),
      newest_(branches_.size()),
      record_(kFixedWords + chain_.size() + kBranchWords * sampling.branches) {
  if (!maps.programs.empty()) cursor_.emplace(symbols);
  set_context();
}

// ---- the course of the trace

void PerfSamples::note(const Instruction& instruction) {
  if (next_process_ != process_) [[unlikely]]
    set_process();
  last_.mode = perf_mode_of(instruction);
  knows_privilege_ = (instruction.modes.known & Modes::kPr) != 0;
  last_.task = last_.mode == PerfMode::kUser ? user_task_ : PerfTask::kKernel;
  if (last_.task == PerfTask::kUnknown && cursor_) find_program(instruction);
  last_.ip = instruction.ea.value;
  last_.end = last_.ip + (instruction.has_prefix ? 8 : 4);
  last_.opcode = instruction.opcode;
  last_.has_word = instruction.has_opcode && !instruction.has_prefix;
  last_.time = records_.time();
  if (sampling_.period == PerfSampling::kBranches) {
    last_.source = kNoAccess;  // the address is the target
  } else {
    last_.address = instruction.data_count != 0 ? instruction.data[0].ea.value : 0;
    last_.source = data_source(instruction);
  }
  if (sampling_.stacks) last_.changes = stacks_.changes();
  last_.branches = pushed_;
  flows_ = true;
}

// The next instruction is at `ea`. Control branched to `ea`, or this instruction is not selected.
void PerfSamples::leave(uint64_t ea, bool selected) {
  const bool branches = ea != last_.end || ends_by_branch();
  if (branches) {
    const unsigned type = last_.has_word              ? branch_type(last_.opcode, last_.ip, ea)
                          : last_.end - last_.ip == 8 ? kInterrupt
                                                      : 0;
    push_branch(last_.ip, ea, type);
  }
  if (sampling_.period != PerfSampling::kBranches || run_ == 0) return;
  if (branches) {
    Place place = last_;
    place.address = ea;
    put_sample(place);
  } else if (!selected) {
    put_sample(last_);
  }
}

void PerfSamples::skip_unknown(bool selected) {
  if (selected) counts_.without_address++;
  break_flow();
  if (sampling_.stacks) stacks_.skipped();
}

void PerfSamples::take(const Stamp& stamp) {
  if (breaks_flow(stamp)) break_flow();
  if (sampling_.stacks) stacks_.stamp(stamp);
  if (stamp.losses.any()) records_.put_lost(std::max(stamp.losses.records, 1U));
}

void PerfSamples::defect(const Defect& defect) {
  break_flow();
  if (sampling_.stacks) stacks_.defect(defect);
  records_.put_lost(1);
}

// The branches on both sides of a gap are not consecutive.
void PerfSamples::break_flow() {
  if (sampling_.period == PerfSampling::kBranches && run_ != 0) put_sample(last_);
  flows_ = false;
  branch_count_ = 0;
}

// Code that is not selected can have run since the last selected instruction.
void PerfSamples::flush() {
  if (run_ == 0) return;
  Place place = sampling_.period == PerfSampling::kBranches ? last_ : last_selected_;
  place.time = records_.time();  // perf expects rising times
  if (cursor_ && place.task == PerfTask::kUnknown) show_program(place.program, place.ip);
  const size_t later = std::min<uint64_t>(pushed_ - place.branches, branch_count_);
  newest_ += later * kBranchWords;
  branch_count_ -= later;
  put_sample(place);
}

// ---- processes and programs

void PerfSamples::set_process() {
  process_ = next_process_;
  if (process_->kind == Process::Kind::kKernel) return;
  const PerfTask task =
      process_->kind == Process::Kind::kProcess ? perf_task(process_->pid) : PerfTask::kUnknown;
  // The maps of this process do not apply to branches of another process.
  if (task != user_task_) branch_count_ = 0;
  user_task_ = task;
  set_context();
}

// The context of a caller is its task. If the process is unknown, the context is the number of
// changes of the maps, because a change can give other names to the addresses of earlier callers.
void PerfSamples::set_context() {
  stacks_.set_context(user_task_ == PerfTask::kUnknown ? kUnknownContext | changes_of_maps_
                                                       : static_cast<uint64_t>(user_task_));
}

PerfTask PerfSamples::task_of_context(uint64_t context) const {
  if (context < kUnknownContext) return static_cast<PerfTask>(context);
  return context == (kUnknownContext | changes_of_maps_) ? PerfTask::kUnknown : PerfTask::kKernel;
}

// Processes without a known number share one task, although several programs may have the same
// addresses. The mappings of the task are therefore those of the running program.
void PerfSamples::find_program(const Instruction& instruction) {
  const bool is_nobodys = owned::is_nobodys(instruction.ea.value);
  const uint64_t owner =
      is_nobodys ? owned::kForeign : owned::owner(cursor_->code(instruction).value);
  last_.program = owner != 0 && owner != owned::kForeign ? owned::program(owner) : kNoProgram;
  show_program(last_.program, instruction.ea.value);
}

// The code at `ea` belongs to this program, or to no known program.
void PerfSamples::show_program(size_t program, uint64_t ea) {
  if (program != kNoProgram) {
    if (!mapped_[program]) put_program(program);
  } else if (ea - free_begin_ >= free_bytes_) {
    hide_programs(ea);
  }
}

void PerfSamples::put_program(size_t program) {
  const PerfMaps::Program& shown = maps_.programs[program];
  for (size_t i = 0; i < mapped_.size(); i++) {
    if (mapped_[i] && maps_.programs[i].overlaps(shown)) hide(i);
  }
  change_names(shown);
  for (const PerfMaps::Mapping& mapping : shown.mappings)
    records_.put_mapping(PerfTask::kUnknown, mapping);
  mapped_[program] = true;
  free_bytes_ = 0;
}

void PerfSamples::hide_programs(uint64_t ea) {
  free_begin_ = 0;
  uint64_t free_end = ~uint64_t{0};
  for (size_t i = 0; i < mapped_.size(); i++) {
    if (!mapped_[i]) continue;
    const PerfMaps::Program& program = maps_.programs[i];
    if (program.holds(ea)) {
      hide(i);
    } else if (ea < program.begin) {
      free_end = std::min(free_end, program.begin);
    } else {
      free_begin_ = std::max(free_begin_, program.end);
    }
  }
  free_bytes_ = free_end - free_begin_;
}

void PerfSamples::hide(size_t program) {
  mapped_[program] = false;
  const PerfMaps::Program& hidden = maps_.programs[program];
  change_names(hidden);
  records_.put_memory(PerfTask::kUnknown, hidden.begin, hidden.end);
}

// From now on, the addresses of this program have other names. Earlier branches and callers at
// these addresses belong to other code. The newest branch led to the code that has the new names.
void PerfSamples::change_names(const PerfMaps::Program& program) {
  for (size_t i = 0; i < branch_count_; i++) {
    const uint64_t* const branch = &branches_[newest_ + i * kBranchWords];
    if (!program.holds(little(branch[0])) && (i == 0 || !program.holds(little(branch[1]))))
      continue;
    branch_count_ = i;
  }
  changes_of_maps_++;
  set_context();
}

// ---- samples

void PerfSamples::push_branch(uint64_t from, uint64_t to, unsigned type) {
  if (sampling_.branches == 0) return;
  if (newest_ < kBranchWords) {
    const size_t kept = std::min<size_t>(branch_count_, sampling_.branches) * kBranchWords;
    std::copy_backward(branches_.begin() + static_cast<ptrdiff_t>(newest_),
                       branches_.begin() + static_cast<ptrdiff_t>(newest_ + kept), branches_.end());
    newest_ = branches_.size() - kept;
  }
  pushed_++;
  newest_ -= kBranchWords;
  branches_[newest_] = little(from);
  branches_[newest_ + 1] = little(to);
  branches_[newest_ + 2] = little(uint64_t{type} << kTypeShift);
  branch_count_ = std::min<size_t>(branch_count_ + 1, sampling_.branches);
}

// Only the mode that the processor states distinguishes a program from a hypervisor.
PerfMode PerfSamples::mode_of(const CallStacks::Caller& caller) const {
  if (caller.is_user) return PerfMode::kUser;
  if (!owned::is_user(caller.ea)) return PerfMode::kKernel;
  return knows_privilege_ ? PerfMode::kHypervisor : PerfMode::kUser;
}

// perf for POWER expects that the third entry of a chain in a program is the link register, and may
// ignore this entry (tools/perf/arch/powerpc/util/skip-callchain-idx.c). perf does not find the
// entry if the marker is repeated.
void PerfSamples::set_callers() {
  chain_.clear();
  chain_.push_back(little(callers_of(last_.mode)));
  if (last_.mode == PerfMode::kUser) chain_.push_back(little(kUserCallers));
  chain_ip_ = chain_.size();
  chain_.push_back(0);
  PerfMode mode = last_.mode;
  chain_task_ = PerfTask::kKernel;
  size_t callers = kMostCallers - 1, markers = kMostMarkers - chain_ip_;
  stacks_.visit_callers([&](const CallStacks::Caller& caller) {
    if (callers-- == 0) return false;
    if (const PerfMode next = mode_of(caller); next != mode) {
      if (markers-- == 0) return false;
      mode = next;
      if (mode == PerfMode::kUser) chain_task_ = task_of_context(caller.context);
      chain_.push_back(little(callers_of(mode)));
    }
    chain_.push_back(little(caller.ea));
    return true;
  });
  callers_of_ = stacks_.changes();
}

void PerfSamples::put_sample(const Place& place) {
  const uint64_t changes = stacks_.changes();
  if (sampling_.stacks && callers_of_ != changes) set_callers();
  const bool has_callers = sampling_.stacks && place.changes == changes;
  const bool in_kernel = has_callers && place.mode != PerfMode::kUser;
  const PerfTask task = in_kernel ? chain_task_ : place.task;
  // perf would name the branches of one program with the maps of another program.
  if (in_kernel && task != PerfTask::kKernel && task != user_task_) branch_count_ = 0;
  uint64_t* to = record_.data() + 1;
  const auto add = [&to](uint64_t value) { *to++ = little(value); };
  add(place.ip);
  add(static_cast<uint64_t>(task));
  add(place.time);
  add(place.address);
  add(run_);
  if (has_callers) {
    chain_[chain_ip_] = little(place.ip);
    add(chain_.size());
    to = std::copy(chain_.begin(), chain_.end(), to);
  } else if (sampling_.stacks) {  // other code has run since
    add(2);
    add(callers_of(place.mode));
    add(place.ip);
  }
  if (sampling_.branches != 0) {
    add(branch_count_);
    to = std::copy_n(branches_.begin() + static_cast<ptrdiff_t>(newest_),
                     branch_count_ * kBranchWords, to);
  }
  add(place.source);
  const auto words = static_cast<size_t>(to - record_.data());
  record_[0] =
      little(record_header(kSample, static_cast<uint16_t>(place.mode), words * sizeof(uint64_t)));
  records_.put(std::as_bytes(std::span(record_).first(words)));
  counts_.samples++;
  run_ = 0;
}

void PerfSamples::finish(const std::string& version) {
  flush();
  records_.finish(version);
}

}  // namespace htmtrace

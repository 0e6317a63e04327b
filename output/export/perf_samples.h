// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the instructions of a core trace as a perf.data file with samples, which an unmodified
// perf reads. Layouts: include/uapi/linux/perf_event.h and
// tools/perf/Documentation/perf.data-file-format.txt of Linux.
//
// Each sample stands for an exact number of instructions, its period. The sum of all periods is the
// number of selected instructions that have an address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/control_flow.h"
#include "core/analysis/symbol_cursor.h"
#include "core/analysis/symbol_table.h"
#include "core/call_stacks/call_stacks.h"
#include "core/core_trace/events.h"
#include "core/core_trace/sink.h"
#include "core/memory_map/process.h"
#include "output/export/perf_maps.h"
#include "output/export/perf_records.h"
#include "output/export/perf_sampling.h"
#include "output/io/text_output.h"

namespace htmtrace {

struct PerfSampleCounts {
  uint64_t samples = 0;
  uint64_t instructions = 0;     // of all samples
  uint64_t without_address = 0;  // selected instructions that are in no sample
};

// Returns a line without a line end.
std::string describe(const PerfSampleCounts& counts);

PerfMode perf_mode_of(const Instruction& instruction);

// A sink for CoreDecoder after a SelectingSink, which supplies positions and processes.
class PerfSamples {
 public:
  // Samples contain earlier calls and branches, and earlier stamps determine their times.
  static constexpr Lead kLead = Lead::kAll;

  // Requires TextOutput::can_rewrite() and an empty output. All arguments must outlive this object.
  // `follows_processes`: the maps have processes that process() can report.
  PerfSamples(TextOutput& output, const PerfSampling& sampling, const SymbolTable& symbols,
              const PerfMaps& maps, bool follows_processes);

  bool wants_processes() const { return follows_processes_; }
  void process(const Process& process) { next_process_ = &process; }

  void at(const TracePlace& place) {
    if (place.ticks != ticks_) [[unlikely]] {
      // Times before the first stamp with ticks are numbers of instructions.
      if (ticks_ == 0) origin_ = place.instructions;
      ticks_ = place.ticks;
    }
    records_.set_time(ticks_ == 0 ? place.instructions : origin_ + ticks_);
  }
  void instruction(const Instruction& instruction) { take(instruction, true); }
  void unselected(const Instruction& instruction) { take(instruction, false); }
  void stamp(const Stamp& stamp) { take(stamp); }
  void unselected(const Stamp& stamp) { take(stamp); }
  void defect(const Defect& defect);

  // Writes the remaining instructions and the end of the file. `version` is htmtrace's.
  void finish(const std::string& version);

  const PerfSampleCounts& counts() const { return counts_; }

 private:
  static constexpr size_t kNoProgram = ~size_t{0};

  // An instruction that can get a sample.
  struct Place {
    uint64_t ip = 0;
    uint64_t end = 0;      // the address after the instruction
    uint64_t address = 0;  // of its data, or its target; 0: none
    uint64_t source = 0;   // of its data
    uint64_t time = 0;
    PerfTask task = PerfTask::kUnknown;
    size_t program = kNoProgram;  // of code without a known process
    uint64_t changes = 0;         // of the callers
    uint64_t branches = 0;        // number of taken branches that precede it
    uint32_t opcode = 0;
    bool has_word = false;  // the opcode is known, and has no prefix
    PerfMode mode = PerfMode::kUser;
  };

  void take(const Instruction& instruction, bool selected) {
    if (!instruction.has_ea) [[unlikely]]
      return skip_unknown(selected);
    if (flows_) [[likely]] {
      arrive(instruction.ea.value, selected);
    }
    if (sampling_.stacks) stacks_.unselected(instruction);
    note(instruction);
    if (!selected) return;
    counts_.instructions++;
    run_++;
    if (run_ == sampling_.period) put_sample(last_);
    if (sampling_.period > 1) last_selected_ = last_;
  }
  // Control reaches `ea` after the last instruction.
  void arrive(uint64_t ea, bool selected) {
    const bool follows = ea == last_.end;
    if (follows && selected && !ends_by_branch()) [[likely]]
      return;
    leave(ea, selected);
  }
  bool ends_by_branch() const {
    return last_.has_word && control_flow::primary(last_.opcode) != kSystemCall &&
           branch_kind(last_.opcode) == BranchKind::kUnconditional;
  }
  void take(const Stamp& stamp);
  void skip_unknown(bool selected);
  void leave(uint64_t ea, bool selected);
  void note(const Instruction& instruction);
  void break_flow();
  void flush();
  void put_sample(const Place& place);

  void set_process();
  void set_context();
  void find_program(const Instruction& instruction);
  void show_program(size_t program, uint64_t ea);
  void put_program(size_t program);
  void hide_programs(uint64_t ea);
  void hide(size_t program);
  void change_names(const PerfMaps::Program& program);

  void push_branch(uint64_t from, uint64_t to, unsigned type);
  PerfMode mode_of(const CallStacks::Caller& caller) const;
  PerfTask task_of_context(uint64_t context) const;
  void set_callers();

  static constexpr unsigned kSystemCall = 17;  // primary opcode of sc and scv
  // Linux's default for kernel.perf_event_max_stack, which perf assumes, too.
  static constexpr size_t kMostCallers = 127;
  static constexpr size_t kMostMarkers = 4;
  static constexpr size_t kBranchWords = 3;
  static constexpr size_t kFixedWords = 9;  // of a sample, without entries of lists

  PerfRecords records_;
  const PerfSampling sampling_;
  const PerfMaps& maps_;
  const bool follows_processes_;
  PerfSampleCounts counts_;

  // Time.
  uint64_t ticks_ = 0;
  uint64_t origin_ = 0;

  // The last instruction, and the selected instructions that no sample includes yet.
  bool flows_ = false;  // the next instruction follows the last one
  Place last_;
  Place last_selected_;
  bool knows_privilege_ = false;
  uint64_t run_ = 0;

  // Processes.
  const Process* process_ = &Process::unknown();
  const Process* next_process_ = &Process::unknown();
  PerfTask user_task_ = PerfTask::kUnknown;
  // The programs of code without a known process.
  std::optional<SymbolCursor> cursor_;
  std::vector<bool> mapped_;  // the mappings of this program apply now
  uint64_t changes_of_maps_ = 0;
  // No program is mapped at these addresses.
  uint64_t free_begin_ = 0;
  uint64_t free_bytes_ = 0;

  // Calls.
  CallStacks stacks_;
  uint64_t callers_of_ = ~uint64_t{0};       // CallStacks::changes() for which chain_ was made
  std::vector<uint64_t> chain_;              // as in the file
  size_t chain_ip_ = 0;                      // index of the instruction's own address
  PerfTask chain_task_ = PerfTask::kKernel;  // for which the kernel works

  // Taken branches as in the file, the newest first, from newest_ on.
  std::vector<uint64_t> branches_;
  size_t newest_ = 0;
  size_t branch_count_ = 0;
  uint64_t pushed_ = 0;

  std::vector<uint64_t> record_;
};

}  // namespace htmtrace

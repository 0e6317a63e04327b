// SPDX-License-Identifier: GPL-2.0-or-later
// Decodes POWER10 records to instructions. Holds the state between records.
#pragma once

#include <cstdint>

#include "core/core_trace/branch_recoding.h"
#include "core/core_trace/events.h"
#include "core/core_trace/framing.h"
#include "core/core_trace/statistics.h"

namespace htmtrace {

inline constexpr uint64_t kPower10PageOffset = 0xfff;  // traces report real pages in units of 4 KiB

// The line of all instructions until the next IEARA.
struct Power10Line {
  uint64_t address = 0;
  uint64_t page = 0;        // the real page
  bool ends_group = false;  // no INFO has followed the IEARA yet

  // `record` must be an IEARA.
  [[gnu::always_inline]] static Power10Line entered(const std::byte* record) {
    return {.address = words::ieara_line(load_be64(record + words::kWordBytes)),
            .page = words::ieara_page(load_be64(record + 2 * words::kWordBytes)),
            .ends_group = true};
  }

  [[gnu::always_inline]] void put_place(uint64_t info, Instruction& instruction) const {
    const uint64_t place = address | words::info10_line_offset(info);
    instruction.ea = EffectiveAddr{place};
    instruction.ra = RealAddr{page | (place & kPower10PageOffset)};
    instruction.has_ea = true;
    instruction.has_ra = true;
  }
};

// Copies the modes and the opcode from INFO and MSR. The opcode of a branch is in its stored form.
[[gnu::always_inline]] inline void put_work(uint64_t info, uint64_t msr, Instruction& instruction) {
  instruction.modes = {static_cast<uint16_t>(words::msr_modes(msr)), Modes::kAll};
  instruction.opcode = words::opcode(info);
  instruction.has_opcode = true;
}

// The trace ends before the MSR, so no mode is known.
inline void put_work_without_modes(uint64_t info, Instruction& instruction) {
  put_work(info, 0, instruction);
  instruction.modes = {};
}

class Power10Stream {
 public:
  // Records are missing, perhaps including an IEARA. Addresses are unknown until the next IEARA.
  void forget_line() { line_known_ = false; }

  void take_line(const WordRun& run, CoreStatistics& statistics) {
    statistics.interrupted_groups += groups_ended_by_line();
    instruction_walks_ = 0;
    data_walks_ = 0;
    line_known_ = true;
    line_ = Power10Line::entered(run.words);
    statistics.lines++;
  }

  // The number of groups without an INFO if an IEARA follows. Their instructions did not complete.
  unsigned groups_ended_by_line() const {
    return (line_.ends_group || data_walks_ != 0 ? 1 : 0) +
           (instruction_walks_ > 1 ? instruction_walks_ - 1 : 0);
  }

  void take_xlate(const WordRun& run, const Framing& framing, CoreStatistics& statistics);

  // `info` is valid: the preceding records of the group belong to it.
  [[gnu::always_inline]] void begin_info(uint64_t info, CoreStatistics& statistics) {
    if (line_.ends_group || (instruction_walks_ | data_walks_) != 0) [[unlikely]] {
      end_group(info, statistics);
    }
  }

  // `run` starts with an INFO. `framing` gives the words that are present: at least INFO and MSR,
  // and the prefix of a prefixed instruction. At the end of the trace, only the INFO may be
  // present. The caller adds logical addresses.
  [[gnu::always_inline]] void take_info(const WordRun& run, const Framing& framing,
                                        CoreStatistics& statistics, Instruction& instruction) {
    const uint64_t info = run[0];
    begin_info(info, statistics);
    instruction.clear();
    if (line_known_) [[likely]]
      line_.put_place(info, instruction);
    if (framing.words >= kInfoAndMsrWords) [[likely]] {
      put_work(info, run[1], instruction);
    } else {
      put_work_without_modes(info, instruction);
    }
    if (words::info_branch(info)) restore_branch(instruction, restore_power10_branch);
    size_t at = kInfoAndMsrWords;
    if (words::info10_prefixed(info)) [[unlikely]] {
      instruction.prefix = words::opcode(run[at++]);
      instruction.has_prefix = true;
    }
    if (words::info10_operands(info) == words::kSegmentOperands) return;
    for (unsigned i = 0; i < words::info10_operands(info) && at < framing.words; i++) {
      DataAccess& data = instruction.add_data(EffectiveAddr{run[at++]});
      if (at >= framing.words) break;
      data.ra = RealAddr{words::dra10_page(run[at++]) | (data.ea.value & kPower10PageOffset)};
      data.has_ra = true;
    }
  }

  // The following whole INFOs and IEARAs depend only on the line.
  bool in_line() const { return line_known_ && (instruction_walks_ | data_walks_) == 0; }
  // Valid only while in_line(), or directly after take_line().
  const Power10Line& line() const { return line_; }
  void set_line(const Power10Line& line) { line_ = line; }

 private:
  void end_group(uint64_t info, CoreStatistics& statistics);

  bool line_known_ = false;
  Power10Line line_;  // may end a group even when line_known_ is false

  // Walks of the group that the next INFO or IEARA ends.
  unsigned instruction_walks_ = 0;
  unsigned data_walks_ = 0;
};

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
// POWER10 records to instructions: what is carried from one record to the next.
#pragma once

#include <cstdint>
#include <optional>

#include "core/branch_recoding.h"
#include "core/core_events.h"
#include "core/core_statistics.h"
#include "core/framing.h"

namespace htmtrace {

class Power10Stream {
 public:
  // Records are missing, among them perhaps an IEARA: addresses are unknown until the next.
  void forget_line() { line_known_ = false; }

  void take_line(const WordRun& run, CoreStatistics& statistics) {
    statistics.interrupted_groups += groups_ended_by_line();
    instruction_walks_ = 0;
    data_walks_ = 0;
    line_pending_ = true;
    line_known_ = true;
    line_ = words::ieara_line(run[1]);
    page_ = words::ieara_page(run[2]);
    statistics.lines++;
  }

  // Groups that got no INFO when an IEARA comes next: of instructions that did not complete.
  unsigned groups_ended_by_line() const {
    return (line_pending_ || data_walks_ != 0 ? 1 : 0) +
           (instruction_walks_ > 1 ? instruction_walks_ - 1 : 0);
  }

  // Of the IEARA just taken.
  EffectiveAddr line() const { return {line_}; }
  RealAddr page() const { return {page_}; }

  void take_xlate(const WordRun& run, const Framing& framing, CoreStatistics& statistics);

  // `run` starts with an INFO, `framing` says how much of the record is there: INFO and MSR at
  // least, and the prefix of a prefixed instruction. Logical addresses are left to the caller.
  [[gnu::always_inline]] void take_info(const WordRun& run, const Framing& framing,
                                        CoreStatistics& statistics, Instruction& instruction) {
    const uint64_t info = run[0];
    if (line_pending_ || (instruction_walks_ | data_walks_) != 0) [[unlikely]] {
      end_group(info, statistics);
    }
    instruction.clear();
    if (line_known_) [[likely]]
      put_place(info, instruction);
    put_work(info, run[1], instruction);
    if (words::info_branch(info)) restore_branch(instruction, restore_power10_branch);
    size_t at = 2;
    if (words::info10_prefixed(info)) [[unlikely]] {
      instruction.prefix = words::opcode(run[at++]);
      instruction.has_prefix = true;
    }
    if (words::info10_operands(info) == words::kSegmentOperands) return;
    for (unsigned i = 0; i < words::info10_operands(info) && at < framing.words; i++) {
      DataAccess& data = instruction.add_data(EffectiveAddr{run[at++]});
      if (at >= framing.words) break;
      data.ra = RealAddr{words::dra10_page(run[at++]) | (data.ea.value & kPageOffset)};
      data.has_ra = true;
    }
  }

  // Where the next INFO is, is known, and it ends no group with records before it.
  bool settled() const {
    return line_known_ && !line_pending_ && (instruction_walks_ | data_walks_) == 0;
  }

  // The line that is known; for those who only count.
  struct Line {
    uint64_t address = 0;  // of the instruction before, or of the line just entered
    uint64_t page = 0;
    bool ends_group = false;  // no INFO has followed the IEARA yet
  };
  // That is all there is to know.
  bool countable() const { return line_known_ && (instruction_walks_ | data_walks_) == 0; }
  Line line_state() const { return {line_, page_, line_pending_}; }
  void set_line_state(const Line& line) {
    line_ = line.address;
    page_ = line.page;
    line_pending_ = line.ends_group;
  }

  // The same as take_info() when settled() and all words of the record are at `at`, but for
  // branches: their opcode is left as it is stored.
  [[gnu::always_inline]] void take_plain_info(const std::byte* at, uint64_t info,
                                              Instruction& instruction) {
    put_place(info, instruction);
    put_work(info, load_be64(at + words::kWordBytes), instruction);
    instruction.has_prefix = words::info10_prefixed(info);
    at += 2 * words::kWordBytes;
    if (instruction.has_prefix) [[unlikely]] {
      instruction.prefix = words::opcode(load_be64(at));
      at += words::kWordBytes;
    }
    const unsigned operands = words::info10_operands(info);
    instruction.data_count =
        operands == words::kSegmentOperands ? 0 : static_cast<uint8_t>(operands);
    for (unsigned i = 0; i < instruction.data_count; i++) {
      DataAccess& data = instruction.data[i];
      data.ea = EffectiveAddr{load_be64(at)};
      const uint64_t page = words::dra10_page(load_be64(at + words::kWordBytes));
      data.ra = RealAddr{page | (data.ea.value & kPageOffset)};
      data.has_ra = true;
      at += 2 * words::kWordBytes;
    }
  }

 private:
  static constexpr uint64_t kPageOffset = 0xfff;  // real pages are told in units of 4 KiB

  // Of an instruction in the line that is known.
  [[gnu::always_inline]] void put_place(uint64_t info, Instruction& instruction) {
    line_ = (line_ & ~(words::kLineBytes - 1)) | words::info10_line_offset(info);
    instruction.ea = EffectiveAddr{line_};
    instruction.ra = RealAddr{page_ | (line_ & kPageOffset)};
    instruction.has_ea = true;
    instruction.has_ra = true;
  }

  [[gnu::always_inline]] static void put_work(uint64_t info, uint64_t msr,
                                              Instruction& instruction) {
    instruction.modes = {static_cast<uint16_t>(words::msr_modes(msr)), Modes::kAll};
    instruction.opcode = words::opcode(info);
    instruction.has_opcode = true;
  }

  void end_group(uint64_t info, CoreStatistics& statistics);

  bool line_known_ = false;
  uint64_t line_ = 0;  // address of the instruction before, or of the line just entered
  uint64_t page_ = 0;

  // Of the group that the next INFO or IEARA ends.
  bool line_pending_ = false;
  unsigned instruction_walks_ = 0;
  unsigned data_walks_ = 0;
};

}  // namespace htmtrace

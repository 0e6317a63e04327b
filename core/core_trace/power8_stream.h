// SPDX-License-Identifier: GPL-2.0-or-later
// Decodes POWER8 records to instructions. Holds the state between records.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/core_trace/branch_recoding.h"
#include "core/core_trace/events.h"
#include "core/core_trace/framing.h"
#include "core/core_trace/power8_translation.h"

namespace htmtrace {

class Power8Stream {
 public:
  // `run` starts with an INFO record, of which `there` words are present. The caller adds logical
  // addresses.
  [[gnu::always_inline]] void decode(const WordRun& run, size_t there, Instruction& instruction) {
    const uint64_t info = run[0];
    instruction.clear();
    lone_data_word_ = false;
    const size_t at = take_instruction_words(run, there, instruction);
    // ESID and VSID give the address of a segment, not of data.
    if (!words::info8_segment(info)) take_data_words(run, there, at, instruction);
    instruction.opcode = words::opcode(info);
    instruction.has_opcode = true;
    if (words::info_branch(info)) restore_branch(instruction, restore_power8_branch);
  }

  // Records are missing. Instructions have no address until the next instruction with its own
  // address.
  void forget_address() { known_ = false; }

  // A real page arrived without the effective address that completes it.
  bool lone_data_word() const { return lone_data_word_; }
  // The pages that the trace has reported.
  Power8Translation& translation() { return translation_; }

 private:
  // Returns the index of the first word after the instruction's words.
  [[gnu::always_inline]] size_t take_instruction_words(const WordRun& run, size_t there,
                                                       Instruction& instruction) {
    const uint64_t info = run[0];
    size_t at = 1;
    if (words::info8_has_iea(info)) {
      // After the loss of an announced address, the next address in sequence is wrong.
      known_ = at < there;
      if (known_) enter(run[at++]);
    } else {
      address_ += 4;
    }
    instruction.has_ea = known_;
    modes_.known = known_ ? Modes::kHv | Modes::kIr : 0;
    instruction.modes = modes_;
    const bool has_ira = words::info8_has_ira(info) && at < there;
    if (!known_) return has_ira ? at + 1 : at;
    instruction.ea = EffectiveAddr{address_};
    if (has_ira) {
      put_page(run[at++], instruction);
    } else if (words::info8_has_ira(info)) {
      // After the loss of an announced page, the remembered page is out of date.
    } else if (!relocated_) {
      instruction.ra = RealAddr{address_ & kRealModeMask};
      instruction.has_ra = true;
    } else if (const auto real = translation_.translate(instruction.ea)) {
      instruction.ra = *real;
      instruction.has_ra = true;
    }
    return at;
  }

  [[gnu::always_inline]] void enter(uint64_t iea) {
    address_ = words::iea_address(iea);
    relocated_ = words::iea_relocated(iea);
    const bool hypervisor = words::iea_hypervisor(iea);
    modes_.bits =
        static_cast<uint16_t>((hypervisor ? Modes::kHv : 0) | (relocated_ ? Modes::kIr : 0));
  }

  [[gnu::always_inline]] void put_page(uint64_t ira, Instruction& instruction) {
    const unsigned shift = words::ira_shift(ira);
    instruction.ra = RealAddr{words::ira_page(ira) | offset_in_page(address_, shift)};
    instruction.has_ra = true;
    if (relocated_) translation_.learn(instruction.ea, words::ira_page(ira), shift);
  }

  [[gnu::always_inline]] void take_data_words(const WordRun& run, size_t there, size_t at,
                                              Instruction& instruction) {
    const uint64_t info = run[0];
    const bool has_dea = words::info8_has_dea(info) && at < there;
    if (has_dea) instruction.add_data(EffectiveAddr{run[at++]});
    if (!words::info8_has_dra(info) || at >= there) return;
    const uint64_t dra = run[at];
    lone_data_word_ = !has_dea;
    if (!has_dea) return;
    DataAccess& data = instruction.data[0];
    data.ra =
        RealAddr{words::dra8_page(dra) | offset_in_page(data.ea.value, words::dra8_shift(dra))};
    data.has_ra = true;
  }

  static uint64_t offset_in_page(uint64_t address, unsigned shift) {
    return address & ((uint64_t{1} << shift) - 1);
  }

  Power8Translation translation_;
  bool known_ = false;      // address_ is known
  uint64_t address_ = 0;    // of the previous instruction
  bool relocated_ = false;  // MSR[IR] of the last IEA
  Modes modes_;             // of the last IEA; unknown when the address is unknown
  bool lone_data_word_ = false;
};

}  // namespace htmtrace

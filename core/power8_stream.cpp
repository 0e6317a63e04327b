// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/power8_stream.h"

#include "core/branch_recoding.h"

namespace htmtrace {
namespace {

uint64_t offset_in_page(uint64_t address, unsigned shift) {
  return address & ((uint64_t{1} << shift) - 1);
}

}  // namespace

void Power8Stream::take_instruction_words(const WordRun& run, const Framing& framing, size_t& at,
                                          Instruction& instruction) {
  const uint64_t info = run[0];
  if (words::info8_has_iea(info)) {
    // An address that was announced and got lost is not the next in sequence.
    known_ = at < framing.words;
    if (known_) {
      address_ = words::iea_address(run[at]);
      relocated_ = words::iea_relocated(run[at]);
      const bool hypervisor = words::iea_hypervisor(run[at]);
      modes_.bits =
          static_cast<uint16_t>((hypervisor ? Modes::kHv : 0) | (relocated_ ? Modes::kIr : 0));
      at++;
    }
  } else {
    address_ += 4;
  }
  instruction.has_ea = known_;
  modes_.known = known_ ? Modes::kHv | Modes::kIr : 0;
  instruction.modes = modes_;
  if (!known_) {
    if (words::info8_has_ira(info) && at < framing.words) at++;
    return;
  }
  instruction.ea = EffectiveAddr{address_};
  if (words::info8_has_ira(info)) {
    // One that got lost leaves nothing: what was learned before is out of date.
    if (at >= framing.words) return;
    const uint64_t ira = run[at++];
    const unsigned shift = words::ira_shift(ira);
    instruction.ra = RealAddr{words::ira_page(ira) | offset_in_page(address_, shift)};
    instruction.has_ra = true;
    if (relocated_) translation_.learn(instruction.ea, words::ira_page(ira), shift);
  } else if (!relocated_) {
    instruction.ra = RealAddr{address_ & kRealModeMask};
    instruction.has_ra = true;
  } else if (const auto real = translation_.translate(instruction.ea)) {
    instruction.ra = *real;
    instruction.has_ra = true;
  }
}

void Power8Stream::take_data_words(const WordRun& run, const Framing& framing, size_t& at,
                                   Instruction& instruction) {
  const uint64_t info = run[0];
  const bool has_dea = words::info8_has_dea(info) && at < framing.words;
  if (has_dea) instruction.add_data(EffectiveAddr{run[at++]});
  if (!words::info8_has_dra(info) || at >= framing.words) return;
  const uint64_t dra = run[at++];
  lone_data_word_ = !has_dea;
  if (!has_dea) return;
  const uint64_t offset = offset_in_page(instruction.data[0].ea.value, words::dra8_shift(dra));
  instruction.data[0].ra = RealAddr{words::dra8_page(dra) | offset};
  instruction.data[0].has_ra = true;
}

void Power8Stream::decode(const WordRun& run, const Framing& framing, Instruction& instruction) {
  const uint64_t info = run[0];
  instruction.clear();
  size_t at = 1;
  lone_data_word_ = false;
  take_instruction_words(run, framing, at, instruction);
  // ESID and VSID say where a segment is, not where data are.
  if (!words::info8_segment(info)) take_data_words(run, framing, at, instruction);
  instruction.opcode = words::opcode(info);
  instruction.has_opcode = true;
  if (words::info_branch(info)) restore_branch(instruction, restore_power8_branch);
}

}  // namespace htmtrace

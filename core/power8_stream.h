// SPDX-License-Identifier: GPL-2.0-or-later
// POWER8 records to instructions: what is carried from one record to the next.
#pragma once

#include <cstdint>
#include <optional>

#include "core/core_events.h"
#include "core/framing.h"
#include "core/power8_translation.h"

namespace htmtrace {

class Power8Stream {
 public:
  // `run` starts with an INFO, `framing` says how much of the record is there. Logical addresses
  // are left to the caller.
  void decode(const WordRun& run, const Framing& framing, Instruction& instruction);

  // Records are missing: an instruction without its own address has none until the next that has.
  void forget_address() { known_ = false; }

  // A real page came without the effective address that would complete it.
  bool lone_data_word() const { return lone_data_word_; }
  uint64_t evictions() const { return translation_.evictions(); }

 private:
  void take_instruction_words(const WordRun& run, const Framing& framing, size_t& at,
                              Instruction& instruction);
  void take_data_words(const WordRun& run, const Framing& framing, size_t& at,
                       Instruction& instruction);

  Power8Translation translation_;
  bool known_ = false;      // address_ is
  uint64_t address_ = 0;    // of the instruction before
  bool relocated_ = false;  // MSR[IR], as the last IEA had it
  Modes modes_;             // of that IEA; nothing is known of them when the address is not
  bool lone_data_word_ = false;
};

}  // namespace htmtrace

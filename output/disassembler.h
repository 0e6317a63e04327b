// SPDX-License-Identifier: GPL-2.0-or-later
// Instruction words to assembler, by libopcodes of the GNU binutils.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/core_events.h"

namespace htmtrace {

// Whether this build can (it needs a libopcodes that knows POWER).
bool can_disassemble();

// Remembers what it has disassembled. For one thread.
class Disassembler {
 public:
  // Throws Error when this build cannot disassemble.
  Disassembler();
  ~Disassembler();
  Disassembler(const Disassembler&) = delete;
  Disassembler& operator=(const Disassembler&) = delete;

  // As objdump -Mpower10 writes it, with one blank for its tabulators; targets of branches are
  // addresses if that of the instruction is known, and displacements otherwise. Words that are no
  // instruction give ".long 0x...". `instruction` must have an opcode. Valid until the next call.
  std::string_view text(const Instruction& instruction);

 private:
  struct Engine;
  struct Known {
    uint64_t address = 0;
    uint64_t words = 0;  // prefix and opcode
    bool filled = false;
    std::string text;
  };
  static constexpr size_t kKnown = 1 << 14;  // a power of two; the code of a busy program

  std::unique_ptr<Engine> engine_;
  std::vector<Known> known_;
};

}  // namespace htmtrace

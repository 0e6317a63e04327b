// SPDX-License-Identifier: GPL-2.0-or-later
// Texts of instructions that the reports on code share.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/analysis/control_flow.h"
#include "core/core_trace/events.h"
#include "output/symbols/disassembler.h"

namespace htmtrace {

// Power ISA 3.1, Book I, 1.6.3: a prefix has primary opcode 1.
constexpr bool is_prefix(uint32_t word) {
  return control_flow::primary(word) == 1;
}

inline std::string words_text(const Instruction& instruction) {
  if (!instruction.has_prefix) return fmt::format("{:08x}", instruction.opcode);
  return fmt::format("{:08x} {:08x}", instruction.prefix, instruction.opcode);
}

// Prints assembly, if this build can disassemble.
class Assembler {
 public:
  Assembler() {
    if (can_disassemble()) disassembler_.emplace();
  }
  std::string_view text(const Instruction& instruction) {
    return disassembler_ ? disassembler_->text(instruction) : std::string_view();
  }

 private:
  std::optional<Disassembler> disassembler_;
};

// Returns the text without blanks at its end.
inline std::string_view without_trailing_blanks(std::string_view text) {
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

}  // namespace htmtrace

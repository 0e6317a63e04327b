// SPDX-License-Identifier: GPL-2.0-or-later
// Disassembles instruction words with libopcodes of the GNU binutils.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/core_trace/events.h"

namespace htmtrace {

// Returns whether this build can disassemble (this needs a libopcodes that supports POWER).
bool can_disassemble();

// Caches disassembled words in 2 MiB of memory. For one thread.
class Disassembler {
 public:
  // The disassembler of the calling thread. The first call in a thread throws Error when this build
  // cannot disassemble.
  static Disassembler& of_thread();

  // Throws Error when this build cannot disassemble.
  Disassembler();
  ~Disassembler();
  Disassembler(const Disassembler&) = delete;
  Disassembler& operator=(const Disassembler&) = delete;

  // Returns the text of objdump -Mpower10, with one blank instead of each tab. Branch targets are
  // addresses if the instruction's address is known, and displacements otherwise. Invalid words
  // give ".long 0x...". `instruction` must have an opcode. Valid until the next call.
  std::string_view text(const Instruction& instruction);

 private:
  struct Engine;
  // One cache line.
  struct alignas(64) Known {
    uint64_t words = 0;  // prefix and opcode
    uint64_t address = 0;
    std::array<char, 47> text;
    uint8_t size = 0;  // of the text; 0: free
  };
  static constexpr size_t kKnown = 1
                                   << 14;  // a power of two that covers the code of a busy program

  std::unique_ptr<Engine> engine_;
  std::vector<Known> by_words_;  // texts without an address
  std::vector<Known> by_address_;
};

}  // namespace htmtrace

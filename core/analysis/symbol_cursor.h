// SPDX-License-Identifier: GPL-2.0-or-later
// Follows one trace and determines the programs to which its user addresses belong.
//
// The page of an instruction proves its owner: the recorder saw a process map a file there. Without
// recorded pages, a word that differs from the file's word at that address refutes the owner; an
// equal word leaves the owner unproven. For data, the page or the instruction is the proof. A
// program's own code (not the code of a library) accesses the memory of that program.
#pragma once

#include <array>
#include <cstdint>

#include "core/analysis/symbol_table.h"
#include "core/core_trace/events.h"
#include "core/core_trace/modes.h"

namespace htmtrace {

class SymbolCursor {
 public:
  // The smallest page size of a process. The traced system may have larger pages.
  static constexpr uint64_t kPageBytes = 4096;

  // False for a user program, and if the trace does not report the privilege.
  static bool is_privileged(Modes modes);

  // `symbols` must outlive this object.
  explicit SymbolCursor(const SymbolTable& symbols)
      : symbols_(&symbols), active_(!symbols.programs().empty()) {}

  // The effective address of the instruction, with its owner if known
  // (core/analysis/symbol_table.h).
  EffectiveAddr code(const Instruction& instruction) {
    if (!active_) return instruction.ea;
    return own_code(instruction);
  }

  // The address of an access by the last instruction that code() received. code() must receive
  // every instruction.
  EffectiveAddr data(const DataAccess& access) {
    if (!active_ || !owned::is_user(access.ea.value)) return access.ea;
    return own_data(access);
  }

 private:
  static constexpr uint64_t kNoPage = 1;

  // Known facts about the instructions on a page.
  struct Page {
    uint64_t ea = kNoPage;
    uint64_t la = kNoPage;  // kNoPage: unknown
    uint64_t owner = 0;     // 0: compare each instruction with the file
    // True if the page belongs to no file that a process of a named program has mapped.
    bool is_elsewhere = false;
    // If the owner is 0 and only one program can have the page: the program's words from `ea` on,
    // for the whole page. Otherwise null.
    const uint32_t* words = nullptr;
    uint64_t owner_of_words = 0;
  };

  EffectiveAddr own_code(const Instruction& instruction);
  EffectiveAddr own_data(const DataAccess& access);
  const Page& page_of(const Instruction& instruction);
  void look_at(Page& page) const;
  void find_words(Page& page) const;
  uint64_t compared_owner(const Page& page, const Instruction& instruction) const {
    if (page.words == nullptr || !instruction.has_opcode || instruction.has_prefix) [[unlikely]]
      return compared_owner(instruction);
    const bool equal = page.words[(instruction.ea.value - page.ea) / 4] == instruction.opcode;
    return equal ? page.owner_of_words : owned::kForeign;
  }
  uint64_t compared_owner(const Instruction& instruction) const;
  uint64_t owner_of_data_page(const DataAccess& access) const;
  uint64_t unproven_at(uint64_t address) const;

  const SymbolTable* symbols_;
  bool active_;
  std::array<Page, 64> pages_{};
  // State of the last instruction.
  bool is_elsewhere_ = false;
  uint64_t running_ =
      0;  // the program, if the instruction is proven to be its own code; otherwise 0
};

}  // namespace htmtrace

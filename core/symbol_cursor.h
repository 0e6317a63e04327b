// SPDX-License-Identifier: GPL-2.0-or-later
// Follows one trace and finds out which program its user addresses belong to.
//
// The proof for an instruction is the page that it was fetched from: the recorder saw a process map
// a file there. Without a record of the pages, an instruction word that the file does not have at
// that address refutes the owner; one that it has leaves the owner unproven. The proof for data is
// the page as well, or the instruction: one of a program's own code (not of a library) accesses the
// memory of that program.
#pragma once

#include <array>
#include <cstdint>

#include "core/core_events.h"
#include "core/modes.h"
#include "core/symbol_table.h"

namespace htmtrace {

class SymbolCursor {
 public:
  // `symbols` must outlive it.
  explicit SymbolCursor(const SymbolTable& symbols)
      : symbols_(&symbols), active_(!symbols.programs().empty()) {}

  // The effective address of the instruction, with its owner (core/symbol_table.h). If it has one.
  EffectiveAddr code(const Instruction& instruction) {
    if (!active_) return instruction.ea;
    return own_code(instruction);
  }

  // Of an access of the instruction that was last given to code(); every one must be given.
  EffectiveAddr data(const DataAccess& access) {
    if (!active_ || !owned::is_user(access.ea.value)) return access.ea;
    return own_data(access);
  }

 private:
  static constexpr uint64_t kNoPage = 1;

  // What is known of the instructions on a page.
  struct Page {
    uint64_t ea = kNoPage;
    uint64_t la = kNoPage;  // kNoPage: unknown
    uint64_t owner = 0;     // 0: each instruction must be compared with the file
    // The page belongs to no file that a process of a named program has mapped.
    bool is_elsewhere = false;
  };

  EffectiveAddr own_code(const Instruction& instruction);
  EffectiveAddr own_data(const DataAccess& access);
  const Page& page_of(const Instruction& instruction);
  void look_at(Page& page) const;
  uint64_t compared_owner(const Instruction& instruction) const;
  uint64_t owner_of_data_page(const DataAccess& access) const;
  uint64_t unproven_at(uint64_t address) const;
  bool shares_process(uint32_t file) const;

  const SymbolTable* symbols_;
  bool active_;
  std::array<Page, 64> pages_{};
  // Of the last instruction.
  bool is_elsewhere_ = false;
  uint64_t running_ = 0;  // its program, if it is proven to be the program's own code; else 0
};

}  // namespace htmtrace

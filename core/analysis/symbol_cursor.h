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

  // Sets the page for the next calls of code_in_page(). Call it again after code(), which can
  // replace the page.
  void enter_page(EffectiveAddr ea, LogicalAddr la, bool has_la) {
    if (active_ && owned::is_user(ea.value)) page_ = &page_at(ea, la, has_la);
  }
  // Like code(), for an instruction in this page. It has no prefix, and all its modes are known.
  EffectiveAddr code_in_page(EffectiveAddr ea, uint32_t opcode, uint16_t modes) {
    if (!active_) return ea;
    if ((modes & Modes::kPr) == 0 || !owned::is_user(ea.value)) return not_user_code(ea);
    return user_code(*page_, ea,
                     page_->owner != 0 ? page_->owner : compared_owner(*page_, ea, opcode));
  }

  // The address of an access by the last instruction that code() or code_in_page() received. One
  // of them must receive each instruction.
  EffectiveAddr data(const DataAccess& access) {
    if (!active_ || !owned::is_user(access.ea.value)) return access.ea;
    return own_data(access);
  }

 private:
  static constexpr uint64_t kNoPage = 1;

  // Known facts about the instructions on a page.
  struct Page {
    uint64_t ea = kNoPage;
    uint64_t la = kNoPage;       // kNoPage: unknown
    uint64_t pages_version = 0;  // SymbolTable::pages_version() at the lookup
    uint64_t owner = 0;          // 0: compare each instruction with the file
    uint64_t running = 0;        // the owner if it is proven and no library; otherwise 0
    // True if the page belongs to no file that a process of a named program has mapped.
    bool is_elsewhere = false;
    // If the owner is 0 and only one program can have the page: the program's words from `ea` on,
    // for the whole page. Otherwise null.
    const uint32_t* words = nullptr;
    uint64_t owner_of_words = 0;
  };

  // An instruction's own words.
  struct Words {
    uint32_t opcode = 0;
    uint32_t prefix = 0;
    bool has_opcode = false;
    bool has_prefix = false;
  };

  EffectiveAddr own_code(const Instruction& instruction);
  EffectiveAddr own_data(const DataAccess& access);
  EffectiveAddr not_user_code(EffectiveAddr ea) {
    running_ = 0;
    is_elsewhere_ = false;
    return {owned::is_user(ea.value) ? owned::with(ea.value, owned::kForeign) : ea.value};
  }
  EffectiveAddr user_code(const Page& page, EffectiveAddr ea, uint64_t owner) {
    is_elsewhere_ = page.is_elsewhere;
    running_ = page.running;
    return {owned::with(ea.value, owner)};
  }
  const Page& page_at(EffectiveAddr ea, LogicalAddr la, bool has_la) {
    const uint64_t page_ea = ea.value & ~(kPageBytes - 1);
    const uint64_t page_la = has_la ? la.value & ~(kPageBytes - 1) : kNoPage;
    Page& page = pages_[(page_ea / kPageBytes ^ page_la / kPageBytes) % pages_.size()];
    if (page.ea != page_ea || page.la != page_la || page.pages_version != symbols_->pages_version())
        [[unlikely]] {
      page.ea = page_ea;
      page.la = page_la;
      page.pages_version = symbols_->pages_version();
      look_at(page);
    }
    return page;
  }
  void look_at(Page& page) const;
  void find_owner(Page& page) const;
  void find_words(Page& page) const;
  uint64_t compared_owner(const Page& page, EffectiveAddr ea, uint32_t opcode) const {
    if (page.words == nullptr) [[unlikely]]
      return compared_owner(page, ea, {.opcode = opcode, .has_opcode = true});
    const bool equal = page.words[(ea.value - page.ea) / 4] == opcode;
    return equal ? page.owner_of_words : owned::kForeign;
  }
  uint64_t compared_owner(const Page& page, EffectiveAddr ea, Words words) const;
  uint64_t owner_of_data_page(const DataAccess& access) const;
  uint64_t unproven_at(uint64_t address) const;

  const SymbolTable* symbols_;
  bool active_;
  std::array<Page, 512> pages_{};
  const Page* page_ = nullptr;  // that enter_page() set
  // State of the last instruction.
  bool is_elsewhere_ = false;
  uint64_t running_ =
      0;  // the program, if the instruction is proven to be its own code; otherwise 0
};

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/analysis/symbol_cursor.h"

namespace htmtrace {

bool SymbolCursor::is_privileged(Modes modes) {
  const Privilege privilege = privilege_of(modes);
  return privilege != Privilege::kUser && privilege != Privilege::kUnknown;
}

void SymbolCursor::look_at(Page& page) const {
  find_owner(page);
  const bool is_proven = page.owner != owned::kForeign && page.owner % 2 == 1;
  const bool is_own = is_proven && symbols_->programs()[owned::program(page.owner)].is_main;
  page.running = is_own ? page.owner : 0;
}

void SymbolCursor::find_owner(Page& page) const {
  const PageOwners& pages = symbols_->pages();
  const auto& programs = symbols_->programs();
  page.owner = 0;
  page.is_elsewhere = false;
  page.words = nullptr;
  bool has_other = false, is_near = false;
  if (page.la != kNoPage) {
    pages.visit({page.la}, [&](const PageOwners::Run& run) {
      const uint64_t place = run.ea + (page.la - run.la);
      for (size_t i = 0; i < programs.size(); i++) {
        const SymbolTable::Program& program = programs[i];
        if (run.file == PageOwners::kNone || program.number != run.file) continue;
        if (run.process == PageOwners::kNone ? program.has_offset(page.ea, place)
                                             : place == page.ea && program.holds(page.ea)) {
          page.owner = owned::of_program(i, true);
          return true;
        }
      }
      has_other = true;
      is_near = is_near || run.file == PageOwners::kNone || symbols_->is_near(run.file);
      return false;
    });
  }
  if (page.owner != 0) return;
  bool is_possible = false;
  for (const SymbolTable::Program& program : programs) {
    if (program.holds(page.ea) && !has_other) {
      is_possible |= page.la == kNoPage || !pages.is_listed(program.number);
    }
  }
  if (is_possible) return find_words(page);
  page.owner = owned::kForeign;
  page.is_elsewhere = page.la != kNoPage && !pages.empty() && !is_near;
}

void SymbolCursor::find_words(Page& page) const {
  const auto& programs = symbols_->programs();
  const uint64_t end = page.ea + kPageBytes;
  for (size_t i = 0; i < programs.size(); i++) {
    const SymbolTable::Program& program = programs[i];
    if (program.begin >= end || program.end <= page.ea) continue;
    if (page.la != kNoPage && symbols_->pages().is_listed(program.number)) continue;
    const bool is_second = page.words != nullptr;
    page.words = program.words_at(page.ea, kPageBytes);
    page.owner_of_words = owned::of_program(i, false);
    if (is_second) page.words = nullptr;
    if (page.words == nullptr) return;
  }
}

// A word that equals the file's word at this address proves nothing. A different word refutes the
// owner. Several possible owners give no name.
uint64_t SymbolCursor::compared_owner(const Page& page, EffectiveAddr ea, Words words) const {
  const auto& programs = symbols_->programs();
  uint64_t owner = owned::kForeign;
  for (size_t i = 0; i < programs.size(); i++) {
    const SymbolTable::Program& program = programs[i];
    if (!program.holds(ea.value)) continue;
    if (page.la != kNoPage && symbols_->pages().is_listed(program.number)) continue;
    if (words.has_opcode && !(words.has_prefix ? program.has_word(ea.value, words.prefix) &&
                                                     program.has_word(ea.value + 4, words.opcode)
                                               : program.has_word(ea.value, words.opcode))) {
      continue;
    }
    if (owner != owned::kForeign) return owned::kForeign;
    owner = owned::of_program(i, false);
  }
  return owner;
}

EffectiveAddr SymbolCursor::own_code(const Instruction& instruction) {
  const EffectiveAddr ea = instruction.ea;
  if (is_privileged(instruction.modes) || !instruction.has_ea || !owned::is_user(ea.value)) {
    return not_user_code(ea);
  }
  const Page& page = page_at(ea, instruction.la, instruction.has_la);
  if (page.owner != 0) return user_code(page, ea, page.owner);
  if (!instruction.has_opcode || instruction.has_prefix) [[unlikely]] {
    return user_code(page, ea,
                     compared_owner(page, ea,
                                    {.opcode = instruction.opcode,
                                     .prefix = instruction.prefix,
                                     .has_opcode = instruction.has_opcode,
                                     .has_prefix = instruction.has_prefix}));
  }
  return user_code(page, ea, compared_owner(page, ea, instruction.opcode));
}

uint64_t SymbolCursor::unproven_at(uint64_t address) const {
  const auto& programs = symbols_->programs();
  size_t only = programs.size();
  for (size_t i = 0; i < programs.size(); i++) {
    if (!programs[i].holds(address)) continue;
    if (only != programs.size()) return owned::kForeign;
    only = i;
  }
  const bool named = only != programs.size() && programs[only].may_guess_data;
  return named ? owned::of_program(only, false) : owned::kForeign;
}

// Returns 0 if the owner is unknown.
uint64_t SymbolCursor::owner_of_data_page(const DataAccess& access) const {
  if (!access.has_la) return 0;
  const PageOwners& pages = symbols_->pages();
  const auto& programs = symbols_->programs();
  uint64_t owner = 0;
  pages.visit(access.la, [&](const PageOwners::Run& run) {
    const uint64_t place = run.ea + (access.la.value - run.la);
    // The page was at another address when the recorder saw it, so it has another owner now.
    if (run.process != PageOwners::kNone && place != access.ea.value) return false;
    owner = owned::kForeign;
    for (size_t i = 0; i < programs.size(); i++) {
      const SymbolTable::Program& program = programs[i];
      if (program.number == PageOwners::kNone || !program.holds(access.ea.value)) continue;
      if (run.process != PageOwners::kNone
              ? pages.has_mapped(run.process, program.number)
              : run.file == program.number && program.has_offset(access.ea.value, place)) {
        owner = owned::of_program(i, true);
        return true;
      }
    }
    return false;
  });
  return owner;
}

EffectiveAddr SymbolCursor::own_data(const DataAccess& access) {
  const uint64_t ea = access.ea.value;
  if (running_ != 0) {
    const bool own = symbols_->programs()[owned::program(running_)].holds(ea);
    return {owned::with(ea, own ? running_ : unproven_at(ea))};
  }
  if (is_elsewhere_) return {owned::with(ea, owned::kForeign)};
  const uint64_t owner = symbols_->pages().empty() ? 0 : owner_of_data_page(access);
  return {owned::with(ea, owner != 0 ? owner : unproven_at(ea))};
}

}  // namespace htmtrace

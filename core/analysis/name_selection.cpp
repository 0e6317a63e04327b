// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/analysis/name_selection.h"

namespace htmtrace {

NameMatch NameSelector::match(const Instruction& instruction) {
  const EffectiveAddr address = cursor_.code(instruction);
  const bool known = instruction.has_ea && !owned::is_nobodys(instruction.ea.value);
  NameMatch match;
  if (!selection_->functions.empty()) {
    match.code = known && functions_.find(address) != nullptr;
  }
  if (selection_->of_file) match.code = match.code && known && in_file(instruction, address);
  if (selection_->objects.empty()) return match;
  match.data = 0;
  for (unsigned i = 0; i < instruction.data_count; i++) {
    const DataAccess& access = instruction.data.at(i);
    if (owned::is_nobodys(access.ea.value)) continue;
    if (objects_.find(cursor_.data(access)) != nullptr) match.data |= 1U << i;
  }
  return match;
}

bool NameSelector::in_file(const Instruction& instruction, EffectiveAddr address) {
  if (modules_.find(address) != nullptr) return true;
  if (!owned::is_user(instruction.ea.value)) return false;
  const uint64_t owner = owned::owner(address.value);
  if (owner != 0 && owner != owned::kForeign &&
      std::ranges::find(selection_->programs, owned::program(owner)) !=
          selection_->programs.end()) {
    return true;
  }
  if (SymbolCursor::is_privileged(instruction.modes)) return false;
  return !selection_->files.empty() && instruction.has_la && on_page(instruction);
}

// Returns true if the recorder found that a process had mapped a selected file at this address, or
// that the page held a part of a selected file.
bool NameSelector::on_page(const Instruction& instruction) {
  constexpr uint64_t kPageBytes = SymbolCursor::kPageBytes;
  const uint64_t ea = instruction.ea.value & ~(kPageBytes - 1);
  const uint64_t la = instruction.la.value & ~(kPageBytes - 1);
  Page& page = pages_[(ea / kPageBytes ^ la / kPageBytes) % pages_.size()];
  if (page.ea == ea && page.la == la) return page.selected;
  page = {.ea = ea, .la = la, .selected = false};
  selection_->symbols->pages().visit({la}, [&](const PageOwners::Run& run) {
    const bool mapped = run.process == PageOwners::kNone || run.ea + (la - run.la) == ea;
    page.selected =
        mapped && std::ranges::find(selection_->files, run.file) != selection_->files.end();
    return page.selected;
  });
  return page.selected;
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/symbols/address_names.h"

#include <fmt/format.h>

#include <iterator>

namespace htmtrace {

std::string_view AddressNames::code(const Instruction& instruction) {
  const EffectiveAddr address = cursor_->code(instruction);
  if (!instruction.has_ea || owned::is_nobodys(instruction.ea.value)) return {};
  if (!code_.holds(address.value)) code_ = symbols_->code_span_of(address);
  return text(code_, address.value);
}

std::string_view AddressNames::data(const DataAccess& access) {
  const EffectiveAddr address = cursor_->data(access);
  if (owned::is_nobodys(access.ea.value)) return {};
  if (!data_.holds(address.value)) data_ = symbols_->span_of(address);
  return text(data_, address.value);
}

std::string_view AddressNames::text(const SymbolTable::Span& span, uint64_t address) {
  if (span.symbol == nullptr) return {};
  text_ = span.symbol->name;
  const uint64_t distance = owned::plain(address) - span.symbol->address;
  if (distance != 0) fmt::format_to(std::back_inserter(text_), "+{:#x}", distance);
  if (owned::is_unproven(address)) text_ += '?';
  return text_;
}

}  // namespace htmtrace

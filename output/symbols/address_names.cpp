// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/symbols/address_names.h"

#include "output/io/hex_text.h"
#include "output/io/put_text.h"

namespace htmtrace {

std::string_view AddressNames::code(const Instruction& instruction) {
  const EffectiveAddr address = cursor_->code(instruction);
  if (!instruction.has_ea || owned::is_nobodys(instruction.ea.value)) return {};
  if (!code_.span.holds(address.value)) enter(code_, symbols_->code_span_of(address));
  return text(code_, address.value);
}

std::string_view AddressNames::data(const DataAccess& access) {
  const EffectiveAddr address = cursor_->data(access);
  if (owned::is_nobodys(access.ea.value)) return {};
  if (!data_.span.holds(address.value)) enter(data_, symbols_->span_of(address));
  return text(data_, address.value);
}

void AddressNames::enter(Known& known, const SymbolTable::Span& span) {
  known.span = span;
  if (span.symbol == nullptr) return;
  known.text = span.symbol->name;
  known.name_bytes = known.text.size();
}

std::string_view AddressNames::text(Known& known, uint64_t address) {
  if (known.span.symbol == nullptr) return {};
  known.text.resize(known.name_bytes);
  char rest[32];
  char* to = rest;
  const uint64_t distance = owned::plain(address) - known.span.symbol->address;
  if (distance != 0) to = put_short_hex(put_text(to, "+0x"), distance);
  if (owned::is_unproven(address)) *to++ = '?';
  known.text.append(rest, static_cast<size_t>(to - rest));
  return known.text;
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/symbols/address_names.h"

#include <algorithm>

namespace htmtrace {

std::string_view AddressNames::Name::text() const {
  if (empty()) return {};
  char* const begin = known_->text.data();
  return {begin, static_cast<size_t>(put_distance(begin + known_->name_bytes) - begin)};
}

void AddressNames::enter(Known& known, const SymbolTable::Span& span, EffectiveAddr address) {
  known.span = span;
  if (span.symbol == nullptr) return;
  const std::string& name = span.symbol->name;
  known.first = address.value - (owned::plain(address.value) - span.symbol->address);
  known.is_unproven = owned::is_unproven(address.value);
  known.is_word = name.size() <= kShortBytes && name.find(' ') == std::string::npos;
  known.name_bytes = name.size();
  known.text = name;
  known.text.resize(std::max(name.size() + kMostDistanceBytes, kShortBytes));
}

}  // namespace htmtrace

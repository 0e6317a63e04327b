// SPDX-License-Identifier: GPL-2.0-or-later
// Turns the tables of event_fields.h into the lists and labels of one format, all at compile time.
// A printer expands a list into one statement for each field.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "output/print/event_fields.h"
#include "output/print/text_piece.h"

namespace htmtrace {

template <auto... kFields>
struct FieldList {};

constexpr const auto& table_of(InstructionField) {
  return kInstructionFields;
}
constexpr const auto& table_of(AccessField) {
  return kAccessFields;
}
constexpr const auto& table_of(NestField) {
  return kNestFields;
}
template <class Id>
constexpr const EventField<Id>& field_of(Id id) {
  return table_of(id).at(static_cast<size_t>(id));
}

// Returns the fields of a format in its order. Does not compile if two fields have the same
// position, if a position has no field, or if a row of the table is at the wrong index.
template <class Id, auto kFormat>
consteval auto field_ids() {
  constexpr auto& kTable = table_of(Id{});
  constexpr size_t kCount = [] {
    size_t last = 0;
    for (const auto& field : kTable) last = std::max<size_t>(last, (field.*kFormat).at);
    return last;
  }();
  std::array<Id, kCount> ids{};
  std::array<bool, kCount> filled{};
  for (size_t i = 0; i < kTable.size(); i++) {
    const auto& field = kTable.at(i);
    if (static_cast<size_t>(field.id) != i) throw "the table has another order than its enum";
    const size_t at = (field.*kFormat).at;
    if (at == 0) continue;
    if (filled.at(at - 1)) throw "two fields have the same position";
    filled.at(at - 1) = true;
    ids.at(at - 1) = field.id;
  }
  for (const bool one : filled) {
    if (!one) throw "a position has no field";
  }
  return ids;
}
template <class Id, auto kFormat>
inline constexpr auto kFieldIds = field_ids<Id, kFormat>();

// The fields of a format from position kFirst, as a FieldList.
template <class Id, auto kFormat, size_t kFirst = 1>
inline constexpr auto kFieldsOf = []<size_t... i>(std::index_sequence<i...>) {
  return FieldList<kFieldIds<Id, kFormat>[i + kFirst - 1]...>{};
}
(std::make_index_sequence<kFieldIds<Id, kFormat>.size() - (kFirst - 1)>());

constexpr size_t size_of(const auto& parts) {
  size_t size = 0;
  for (const std::string_view part : parts) size += part.size();
  return size;
}
// Returns a piece that holds the parts one after the other. `make` is a lambda without captures
// that returns the parts, so that they are constants. The processor copies the piece without a
// loop.
template <class Make>
consteval auto joined(Make make) {
  TextPiece<(size_of(Make{}()) + 7) / 8 * 8> piece;
  for (const std::string_view part : make()) piece.append(part);
  return piece;
}

// " ea=": the name of a field in a line of text, and the blank that separates it from its
// predecessor.
template <auto kField>
inline constexpr auto kTextLabel = joined([] {
  return std::array<std::string_view, 3>{" ", field_of(kField).text.name, "="};
});

// ",\"ea\":" and the quote that opens a string: the key of a field in an object. The first key
// opens the object.
template <auto kField, bool kString>
inline constexpr auto kJsonKey = joined([] {
  return std::array<std::string_view, 4>{field_of(kField).json.at == 1 ? "{" : ",", "\"",
                                         field_of(kField).json.name, kString ? "\":\"" : "\":"};
});

}  // namespace htmtrace

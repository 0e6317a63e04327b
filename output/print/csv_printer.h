// SPDX-License-Identifier: GPL-2.0-or-later
// Prints decoded instructions as comma-separated values (RFC 4180, but lines end with a newline
// only). htmtrace-decode(1), OUTPUT, defines the columns as an interface.
#pragma once

#include <string>
#include <string_view>

#include "core/core_trace/events.h"
#include "output/io/put_text.h"
#include "output/io/text_output.h"
#include "output/print/field_list.h"
#include "output/print/field_values.h"
#include "output/symbols/address_names.h"

namespace htmtrace {

using CsvHeading = TextPiece<248>;

// The lists of columns of all events.
template <class Id>
inline constexpr auto kCsvColumns = kFieldsOf<Id, &EventField<Id>::csv>;

template <class Id>
constexpr bool is_symbol(Id field) {
  if constexpr (requires { Id::kSymbol; }) return field == Id::kSymbol;
  return false;
}

// Appends the columns of one event, either those of --symbols or all others.
template <auto... kFields>
constexpr void append_columns(CsvHeading& heading, FieldList<kFields...>, bool of_symbols,
                              std::string_view suffix = {}) {
  const auto append = [&](auto field) {
    if (is_symbol(field) != of_symbols) return;
    if (heading.size() != 0) heading.append(",");
    heading.append(field_of(field).csv.name);
    heading.append(suffix);
  };
  (append(kFields), ...);
}
constexpr CsvHeading csv_heading(bool with_symbols) {
  CsvHeading heading;
  for (const bool of_symbols : {false, true}) {
    if (of_symbols && !with_symbols) break;
    append_columns(heading, kCsvColumns<InstructionField>, of_symbols);
    append_columns(heading, kCsvColumns<AccessField>, of_symbols);
    append_columns(heading, kCsvColumns<AccessField>, of_symbols, "2");
  }
  heading.append("\n");
  return heading;
}
inline constexpr CsvHeading kCsvHeadingText = csv_heading(false);
inline constexpr CsvHeading kCsvHeadingTextWithSymbols = csv_heading(true);
inline constexpr std::string_view kCsvHeading = kCsvHeadingText.text();
inline constexpr std::string_view kCsvHeadingWithSymbols = kCsvHeadingTextWithSymbols.text();

// A sink for CoreDecoder.
class CsvPrinter {
 public:
  // `target` names the trace in each line. With `symbols`, addresses have names.
  CsvPrinter(TextOutput& output, std::string_view target, const SymbolTable* symbols = nullptr);

  void instruction(const Instruction& instruction) {
    output_.put(target_);
    char* at = put_columns(output_.room(), instruction, kCsvColumns<InstructionField>);
    for (unsigned i = 0; i < instruction.data.size(); i++) {
      at = put_columns(at, instruction.data[i], i < instruction.data_count,
                       kCsvColumns<AccessField>);
    }
    if (names_.wanted()) at = put_symbols(at, instruction);
    *at++ = '\n';
    output_.commit(at);
  }

  void stamp(const Stamp&) {}
  void defect(const Defect&) {}

 private:
  // Writes the columns after the target, except those of --symbols.
  template <InstructionField... kFields>
  [[gnu::always_inline]] static char* put_columns(char* to, const Instruction& instruction,
                                                  FieldList<kFields...>) {
    ((to = put_column<kFields>(to, instruction)), ...);
    return to;
  }
  template <InstructionField kField>
  [[gnu::always_inline]] static char* put_column(char* to, const Instruction& instruction) {
    if constexpr (kField == InstructionField::kTarget || kField == InstructionField::kSymbol) {
      return to;
    } else {
      return put_csv(to, value_of<kField>(instruction));
    }
  }

  // Writes empty columns unless the instruction has the access.
  template <AccessField... kFields>
  [[gnu::always_inline]] static char* put_columns(char* to, const DataAccess& access, bool has,
                                                  FieldList<kFields...>) {
    ((to = put_column<kFields>(to, access, has)), ...);
    return to;
  }
  template <AccessField kField>
  [[gnu::always_inline]] static char* put_column(char* to, const DataAccess& access, bool has) {
    if constexpr (kField == AccessField::kSymbol) {
      return to;
    } else {
      Address address = value_of<kField>(access);
      address.known = has && address.known;
      return put_csv(to, address);
    }
  }

  char* put_symbols(char* to, const Instruction& instruction);

  TextOutput& output_;
  std::string target_;
  AddressNames names_;
};

}  // namespace htmtrace

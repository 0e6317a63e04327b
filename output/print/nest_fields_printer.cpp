// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/print/nest_fields_printer.h"

#include <algorithm>
#include <array>

namespace htmtrace {

// One function for each field and format, chosen once for all events.
struct NestFieldWriters {
  using Printer = NestFieldsPrinter;

  // The digits of a number that lines of text show in hexadecimal; 0: decimal.
  static constexpr unsigned hex_digits(NestField field) {
    using enum NestField;
    if (field == kUnit) return 3;
    return field == kTicket || field == kTransaction || field == kTsize || field == kTtype ||
                   field == kResponseCode
               ? 2
               : 0;
  }

  template <FieldsFormat kFormat, NestField kField>
  static void put(Printer& p, const NestValues& values, std::string_view name) {
    if constexpr (kField == NestField::kTarget) {
      p.line_.put_long<kFormat>(name, p.target_);
    } else if constexpr (kFormat == FieldsFormat::kText && hex_digits(kField) != 0) {
      const Number number = value_of<kField>(values);
      p.line_.put<kFormat>(name, HexNumber{number.value, hex_digits(kField), number.known});
    } else {
      p.line_.put<kFormat>(name, value_of<kField>(values));
    }
  }

  struct Writer {
    std::string_view name;
    std::array<Printer::Put, kFieldsFormats> put{};
  };
  template <size_t... i>
  static constexpr auto writers(std::index_sequence<i...>) {
    return std::array{Writer{
        chosen_name(kNestFields[i]),
        {put<FieldsFormat::kText, kNestFields[i].id>, put<FieldsFormat::kJson, kNestFields[i].id>,
         put<FieldsFormat::kCsv, kNestFields[i].id>}}...};
  }
  static const auto& all() {
    static constexpr auto kAll = writers(std::make_index_sequence<kNestFields.size()>());
    return kAll;
  }
};

std::vector<std::string_view> nest_field_names() {
  std::vector<std::string_view> names;
  for (const auto& writer : NestFieldWriters::all()) names.push_back(writer.name);
  return names;
}

NestFieldsPrinter::NestFieldsPrinter(TextOutput& output, nest::Layout layout, const Wishes& wishes)
    : line_(output), format_(wishes.format), target_(wishes.target), reader_(layout) {
  const auto& all = NestFieldWriters::all();
  for (const std::string& field : wishes.fields) {
    const auto found = std::ranges::find(all, field, &NestFieldWriters::Writer::name);
    if (found != all.end()) {
      columns_.push_back({found->put[static_cast<size_t>(format_)], field});
    }
  }
}

void NestFieldsPrinter::event(const nest::Event& event, std::optional<LogicalAddr> la) {
  using Kind = nest::Event::Kind;
  if (event.kind == Kind::kStamp || event.kind == Kind::kUnknown) return;
  const NestValues values = reader_.values_of(event, la);
  for (const Column& column : columns_) column.put(*this, values, column.name);
  line_.end(format_);
}

}  // namespace htmtrace

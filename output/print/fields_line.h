// SPDX-License-Identifier: GPL-2.0-or-later
// Writes lines of chosen fields (decode --fields) as text, JSON Lines or CSV.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "output/io/csv_field.h"
#include "output/io/hex_text.h"
#include "output/io/json_writer.h"
#include "output/io/put_text.h"
#include "output/io/text_output.h"
#include "output/print/field_values.h"

namespace htmtrace {

enum class FieldsFormat : uint8_t { kText, kJson, kCsv };
inline constexpr size_t kFieldsFormats = 3;

// The name by which --fields chooses a field. Empty if --fields cannot choose the field.
template <class Id>
constexpr std::string_view chosen_name(const EventField<Id>& field) {
  return field.text.name.empty() ? field.json.name : field.text.name;
}

// A number that text shows in hexadecimal.
struct HexNumber {
  uint64_t value;
  unsigned digits;
  bool known = true;
};
template <>
inline constexpr bool kIsString<HexNumber> = false;
inline char* put_value(char* to, const HexNumber& number) {
  return put_hex_digits(to, static_cast<unsigned>(number.value), number.digits);
}

// Writes a value of a line of text; a dash if it is unknown.
template <class Value>
char* put_plain(char* to, const Value& value) {
  if (is_known(value)) {
    char* const end = put_value(to, value);
    if (end != to) return end;
  }
  *to = '-';
  return to + 1;
}
inline char* put_plain(char* to, const Address& address) {
  if (address.known) return put_hex64(to, address.value);
  *to = '-';
  return to + 1;
}
inline char* put_plain(char* to, const CodeName& name) {
  if (!name.text.empty()) return put_text(to, name.text);
  return put_plain(to, HexNumber{name.code, name.digits, name.known});
}

// Formats `text`, which can have any content, for FieldsLine::put_ready().
inline std::string ready_text(FieldsFormat format, std::string_view text) {
  if (format == FieldsFormat::kText || text.empty()) return std::string(text);
  return format == FieldsFormat::kJson ? json_string(text) : csv_field(text);
}

class FieldsLine {
 public:
  explicit FieldsLine(TextOutput& output) : output_(output) {}

  template <FieldsFormat kFormat, class Value>
  void put(std::string_view name, const Value& value) {
    if constexpr (kFormat == FieldsFormat::kJson) {
      if (!is_known(value)) return;
      char* to = begin<kFormat>(name);
      if constexpr (kIsString<Value>) *to++ = '"';
      to = put_value(to, value);
      if constexpr (kIsString<Value>) *to++ = '"';
      output_.commit(to);
    } else if constexpr (kFormat == FieldsFormat::kCsv) {
      output_.commit(put_csv_value(begin<kFormat>(name), value));
    } else {
      output_.commit(put_plain(begin<kFormat>(name), value));
    }
  }

  // Writes a value that already has the syntax of the format; an empty text is an unknown value.
  template <FieldsFormat kFormat>
  void put_ready(std::string_view name, std::string_view text) {
    if (kFormat == FieldsFormat::kJson && text.empty()) return;
    if (kFormat == FieldsFormat::kText && text.empty()) text = "-";
    char* const to = begin<kFormat>(name);
    // Half of the room is enough for the separator and the key.
    if (text.size() <= TextOutput::kRoom / 2) [[likely]]
      return output_.commit(put_short_text(to, text));
    output_.commit(to);
    output_.put(text);
  }

  // Writes a text of any length and content; an empty text is an unknown value.
  template <FieldsFormat kFormat>
  void put_long(std::string_view name, std::string_view text) {
    if (kFormat == FieldsFormat::kJson && text.empty()) return;
    output_.commit(begin<kFormat>(name));
    if constexpr (kFormat == FieldsFormat::kJson) {
      output_.put(json_string(text));
    } else if constexpr (kFormat == FieldsFormat::kCsv) {
      output_.put(csv_field(text));
    } else {
      output_.put(text.empty() ? "-" : text);
    }
  }

  void end(FieldsFormat format) {
    const std::string_view text = format != FieldsFormat::kJson ? "\n" : first_ ? "{}\n" : "}\n";
    output_.commit(put_text(output_.room(), text));
    first_ = true;
  }

 private:
  // Writes the separator and the key.
  template <FieldsFormat kFormat>
  char* begin(std::string_view name) {
    char* to = output_.room();
    if constexpr (kFormat == FieldsFormat::kJson) {
      to = put_text(to, first_ ? "{\"" : ",\"");
      to = put_text(put_text(to, name), "\":");
    } else if (!first_) {
      *to++ = kFormat == FieldsFormat::kText ? '\t' : ',';
    }
    first_ = false;
    return to;
  }

  TextOutput& output_;
  bool first_ = true;  // no field of the line is written yet
};

// Returns the header line of CSV.
inline std::string fields_heading(const std::vector<std::string>& fields) {
  std::string heading;
  for (const std::string& field : fields) heading += (heading.empty() ? "" : ",") + field;
  return heading + "\n";
}

}  // namespace htmtrace

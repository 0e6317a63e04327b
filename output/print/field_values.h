// SPDX-License-Identifier: GPL-2.0-or-later
// The values of the fields of instructions and data accesses, and how JSON, CSV and rows show the
// values of each type. The types also state whether the trace contains the value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/core_trace/events.h"
#include "core/core_trace/instruction_class.h"
#include "output/io/hex_text.h"
#include "output/io/put_text.h"
#include "output/print/field_list.h"
#include "output/print/put_modes.h"

namespace htmtrace {

// ------------------------------------------------------------------------------ TYPES

// A decimal number.
struct Number {
  uint64_t value;
  bool known = true;
};
// An address: 0x and 16 digits.
struct Address {
  uint64_t value;
  bool known = true;
};
// The words of an instruction in hexadecimal, without 0x.
struct InstructionWords {
  uint32_t prefix;
  uint32_t opcode;
  bool has_prefix;
  bool known;
};
// A name out of a list. Rows hold its index.
struct Choice {
  size_t index;
  std::span<const std::string_view> names;
};
// Empty if unknown.
struct Name {
  std::string_view text;
};
// The name of a code; empty if the code has none. CSV then shows the digits of the code.
struct CodeName {
  std::string_view text;
  unsigned code;
  unsigned digits;
  bool known;
};
struct ModeNames {
  Modes modes;
};

template <class Value>
inline constexpr bool kIsString = true;
template <>
inline constexpr bool kIsString<Number> = false;

// ------------------------------------------------------------------------------ VALUES

// kTarget, kType, kSymbol, kData, kAssembler and kProcess need more than the instruction: the
// printers have them.
template <InstructionField kField>
[[gnu::always_inline]] inline auto value_of(const Instruction& instruction) {
  using enum InstructionField;
  if constexpr (kField == kOffset) {
    return Number{instruction.offset};
  } else if constexpr (kField == kEa) {
    return Address{instruction.ea.value, instruction.has_ea};
  } else if constexpr (kField == kOpcode) {
    return InstructionWords{instruction.prefix, instruction.opcode, instruction.has_prefix,
                            instruction.has_opcode};
  } else if constexpr (kField == kPrefix) {
    return Number{instruction.prefix, instruction.has_prefix};
  } else if constexpr (kField == kRa) {
    return Address{instruction.ra.value, instruction.has_ra};
  } else if constexpr (kField == kLa) {
    return Address{instruction.la.value, instruction.has_la};
  } else if constexpr (kField == kClass) {
    return Choice{static_cast<size_t>(class_of(instruction)), kInstructionClassNames};
  } else if constexpr (kField == kPrivilege) {
    return Choice{static_cast<size_t>(privilege_of(instruction.modes)), kPrivilegeNames};
  } else {
    static_assert(kField == kModes);
    return ModeNames{instruction.modes};
  }
}

// The printers have kSymbol.
template <AccessField kField>
[[gnu::always_inline]] inline Address value_of(const DataAccess& access) {
  using enum AccessField;
  if constexpr (kField == kEa) {
    return {access.ea.value};
  } else if constexpr (kField == kRa) {
    return {access.ra.value, access.has_ra};
  } else {
    static_assert(kField == kLa);
    return {access.la.value, access.has_la};
  }
}

// ------------------------------------------------------------------------------ JSON AND CSV

[[gnu::always_inline]] inline char* put_value(char* to, const Number& number) {
  return put_decimal(to, number.value);
}
[[gnu::always_inline]] inline char* put_value(char* to, const Address& address) {
  return put_hex64(put_text(to, "0x"), address.value);
}
[[gnu::always_inline]] inline char* put_value(char* to, const InstructionWords& words) {
  if (words.has_prefix) to = put_hex32(to, words.prefix);
  return put_hex32(to, words.opcode);
}
[[gnu::always_inline]] inline char* put_value(char* to, const Choice& choice) {
  return put_text(to, choice.names[choice.index]);
}
[[gnu::always_inline]] inline char* put_value(char* to, const ModeNames& names) {
  return put_modes(to, names.modes);
}
[[gnu::always_inline]] inline char* put_value(char* to, const Name& name) {
  return put_text(to, name.text);
}
[[gnu::always_inline]] inline char* put_value(char* to, const CodeName& name) {
  return put_text(to, name.text);
}

[[gnu::always_inline]] inline bool is_known(const auto& value) {
  if constexpr (requires { value.text; }) {
    return !value.text.empty();
  } else if constexpr (requires { value.known; }) {
    return value.known;
  }
  return true;
}

// Writes ,"key":value, or nothing if the value is unknown. Names need no escapes.
template <auto kField, class Value>
[[gnu::always_inline]] inline char* put_json(char* to, const Value& value) {
  if (!is_known(value)) return to;
  to = put_value(kJsonKey<kField, kIsString<Value>>.put(to), value);
  if constexpr (kIsString<Value>) *to++ = '"';
  return to;
}

// Writes the value, or nothing if the value is unknown. Names need no quotes.
template <class Value>
[[gnu::always_inline]] inline char* put_csv_value(char* to, const Value& value) {
  return is_known(value) ? put_value(to, value) : to;
}
[[gnu::always_inline]] inline char* put_csv_value(char* to, const InstructionWords& words) {
  if (words.has_prefix) to = put_hex32(to, words.prefix);
  return words.known ? put_hex32(to, words.opcode) : to;
}
[[gnu::always_inline]] inline char* put_csv_value(char* to, const ModeNames& names) {
  *to = '"';
  to = put_modes(to + 1, names.modes);
  *to = '"';
  return to + 1;
}
inline char* put_csv_value(char* to, const CodeName& name) {
  if (!name.known) return to;
  return name.text.empty() ? put_hex_digits(to, name.code, name.digits) : put_text(to, name.text);
}

// Writes a comma and the value.
template <class Value>
[[gnu::always_inline]] inline char* put_csv(char* to, const Value& value) {
  *to = ',';
  return put_csv_value(to + 1, value);
}

// ------------------------------------------------------------------------------ ROWS

inline uint64_t row_number(const auto& value) {
  return value.value;
}
inline uint64_t row_number(const InstructionWords& words) {
  return words.opcode;
}
inline uint64_t row_number(const Choice& choice) {
  return choice.index;
}
inline uint64_t row_number(const ModeNames& names) {
  return names.modes.bits & names.modes.known;
}

// Adds the value to a row of Avro or Parquet as the type of its column.
template <auto kField, class Row, class Value>
[[gnu::always_inline]] inline void put_column(Row& row, const Value& value) {
  constexpr const RowField& kColumn = field_of(kField).row;
  if constexpr (kColumn.kind == FieldKind::kText) {
    kColumn.optional ? row.optional_text(value.text) : row.text(value.text);
  } else if constexpr (kColumn.optional) {
    row.optional(value.known, row_number(value));
  } else {
    row.number(row_number(value));
  }
}

}  // namespace htmtrace

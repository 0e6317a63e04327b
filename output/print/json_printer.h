// SPDX-License-Identifier: GPL-2.0-or-later
// Prints decoded events as JSON Lines, one object a line. Addresses are strings, because many JSON
// readers hold numbers in 53 bits. htmtrace-decode(1), OUTPUT, defines the keys as an interface.
#pragma once

#include <string>
#include <string_view>

#include "core/core_trace/events.h"
#include "core/core_trace/radix_walk.h"
#include "output/io/put_text.h"
#include "output/io/text_output.h"
#include "output/print/field_list.h"
#include "output/print/field_values.h"
#include "output/symbols/address_names.h"

namespace htmtrace {

// Returns the content of a stamp as the fields of an object, without braces.
std::string json_stamp_fields(const Stamp& stamp);

// A sink for CoreDecoder.
class JsonPrinter {
 public:
  // `target` names the trace in each object. With `symbols`, addresses have names.
  JsonPrinter(TextOutput& output, std::string_view target, bool with_stamps,
              const SymbolTable* symbols = nullptr);

  void instruction(const Instruction& instruction) {
    output_.put(begin_instruction_);
    char* at = put_fields(output_.room(), instruction, kInstructionKeys);
    output_.commit(put_text(at, "}\n"));
  }

  void stamp(const Stamp& stamp) {
    if (with_stamps_) put_stamp(stamp);
  }

  // The decoder calls this only after follow_walks().
  void walk(const Walk& walk);

  void defect(const Defect&) {}

 private:
  // The keys that follow the target and the type.
  static constexpr auto kInstructionKeys =
      kFieldsOf<InstructionField, &EventField<InstructionField>::json, 3>;
  static constexpr auto kAccessKeys = kFieldsOf<AccessField, &EventField<AccessField>::json>;

  template <auto... kFields>
  [[gnu::always_inline]] char* put_fields(char* to, const auto& event, FieldList<kFields...>) {
    ((to = put_field<kFields>(to, event)), ...);
    return to;
  }
  template <InstructionField kField>
  [[gnu::always_inline]] char* put_field(char* to, const Instruction& instruction) {
    if constexpr (kField == InstructionField::kSymbol) {
      return names_.wanted() ? put_symbol<kField>(to, names_.code(instruction).text()) : to;
    } else if constexpr (kField == InstructionField::kData) {
      return put_accesses(to, instruction);
    } else {
      return put_json<kField>(to, value_of<kField>(instruction));
    }
  }
  template <AccessField kField>
  [[gnu::always_inline]] char* put_field(char* to, const DataAccess& access) {
    if constexpr (kField == AccessField::kSymbol) {
      return names_.wanted() ? put_symbol<kField>(to, names_.data(access).text()) : to;
    } else {
      return put_json<kField>(to, value_of<kField>(access));
    }
  }

  [[gnu::always_inline]] char* put_accesses(char* to, const Instruction& instruction) {
    if (instruction.data_count == 0) return to;
    to = put_text(kJsonKey<InstructionField::kData, false>.put(to), "[");
    for (unsigned i = 0; i < instruction.data_count; i++) {
      to = put_text(put_fields(to, instruction.data[i], kAccessKeys), "},");
    }
    to[-1] = ']';
    return to;
  }

  // Writes nothing if the address has no name.
  template <auto kField>
  char* put_symbol(char* to, std::string_view name) {
    return name.empty() ? to : put_string(kJsonKey<kField, false>.put(to), name);
  }
  // Writes a string of any length, with quotes.
  char* put_string(char* to, std::string_view text);

  void put_stamp(const Stamp& stamp);

  TextOutput& output_;
  std::string begin_;              // the start of each object, including the target
  std::string begin_instruction_;  // the start up to the offset
  bool with_stamps_;
  AddressNames names_;
};

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
// Prints chosen fields of instructions (decode --fields).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/core_trace/events.h"
#include "core/core_trace/sink.h"
#include "output/io/text_output.h"
#include "output/print/fields_line.h"
#include "output/source_lines/line_texts.h"
#include "output/symbols/address_names.h"

namespace htmtrace {

// Returns the names of all fields, in the order of htmtrace-decode(1).
std::vector<std::string_view> core_field_names();

// The data that the chosen fields require in addition to the instruction.
struct CoreFieldNeeds {
  bool place = false;  // at(), which a SelectingSink calls
  bool symbols = false;
  bool assembler = false;
  bool lines = false;
  bool names = false;    // the texts of symbols
  bool process = false;  // process(), which a SelectingSink calls on request
};
CoreFieldNeeds needs_of(const std::vector<std::string>& fields);

// A sink for CoreDecoder.
class CoreFieldsPrinter {
 public:
  struct Wishes {
    FieldsFormat format = FieldsFormat::kText;
    const std::vector<std::string>& fields;  // only core_field_names()
    std::string target;
    const SymbolTable* symbols = nullptr;  // if CoreFieldNeeds::symbols
    SourceFiles* lines = nullptr;          // if CoreFieldNeeds::lines
  };
  CoreFieldsPrinter(TextOutput& output, const Wishes& wishes);

  void at(const TracePlace& place) {
    if (needs_place_) place_ = place;
  }
  void process(const Process& process) { process_ = ready_text(format_, process.name); }
  void instruction(const Instruction& instruction);
  void stamp(const Stamp&) {}
  void defect(const Defect&) {}

 private:
  friend struct CoreFieldWriters;
  using Put = void (*)(CoreFieldsPrinter&, const Instruction&, std::string_view name);
  struct Column {
    Put put;
    std::string_view name;
  };

  FieldsLine line_;
  FieldsFormat format_;
  // Texts for FieldsLine::put_ready().
  std::string target_;
  std::string process_;
  AddressNames names_;
  LineTexts lines_;
  std::vector<Column> columns_;
  bool needs_place_;
  TracePlace place_;
  AddressNames::Name code_name_;  // of the current instruction
  LineTexts::Texts line_texts_;   // of the current instruction
  std::string text_;
};

}  // namespace htmtrace

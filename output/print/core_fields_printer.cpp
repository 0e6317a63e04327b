// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/print/core_fields_printer.h"

#include <algorithm>
#include <array>

#include "core/base/plain_text.h"
#include "output/symbols/disassembler.h"

namespace htmtrace {
namespace {

LineTexts::Write line_writer(FieldsFormat format) {
  if (format == FieldsFormat::kText) return line_text;
  if (format == FieldsFormat::kCsv) {
    return [](const std::vector<SourceFrame>& frames, bool proven) {
      return csv_field(line_text(frames, proven));
    };
  }
  return [](const std::vector<SourceFrame>& frames, bool proven) {
    const std::string text = line_text(frames, proven);
    return text.empty() ? text : json_string(text);
  };
}

// JSON has an object for each inlined function, because names can contain all characters.
std::string inlined_json(const std::vector<SourceFrame>& frames, bool proven) {
  std::string text;
  for (size_t i = 0; i + 1 < frames.size(); i++) {
    const SourceFrame& call = frames[i + 1];
    text += text.empty() ? "[{" : ",{";
    if (!frames[i].function.empty()) {
      text +=
          "\"function\":" + json_string(std::string(frames[i].function) + proof_mark(proven)) + ",";
    }
    if (!call.file.empty()) text += "\"file\":" + json_string(call.file) + ",";
    text += "\"line\":" + std::to_string(call.line) + "}";
  }
  return text.empty() ? text : text + "]";
}

LineTexts::Write inlined_writer(FieldsFormat format) {
  if (format == FieldsFormat::kText) return inlined_text;
  if (format == FieldsFormat::kJson) return inlined_json;
  return [](const std::vector<SourceFrame>& frames, bool proven) {
    return csv_field(inlined_text(frames, proven));
  };
}

}  // namespace

// One function for each field and format, chosen once for all instructions.
struct CoreFieldWriters {
  using Printer = CoreFieldsPrinter;

  template <FieldsFormat kFormat, InstructionField kField>
  static void put(Printer& p, const Instruction& instruction, std::string_view name) {
    using enum InstructionField;
    if constexpr (kField == kTarget) {
      p.line_.put_ready<kFormat>(name, p.target_);
    } else if constexpr (kField == kType) {
      p.line_.put<kFormat>(name, Name{"instruction"});
    } else if constexpr (kField == kNumber) {
      p.line_.put<kFormat>(name, Number{p.place_.instructions});
    } else if constexpr (kField == kTicks) {
      p.line_.put<kFormat>(name, Number{p.place_.ticks});
    } else if constexpr (kField == kSymbol) {
      put_symbol<kFormat>(p, name, p.code_name_.text());
    } else if constexpr (kField == kLine) {
      p.line_.put_ready<kFormat>(name, p.line_texts_.line);
    } else if constexpr (kField == kInlined) {
      p.line_.put_ready<kFormat>(name, p.line_texts_.inlined);
    } else if constexpr (kField == kProcess) {
      p.line_.put_ready<kFormat>(name, p.process_);
    } else if constexpr (kField == kAssembler) {
      p.line_.put_long<kFormat>(
          name, instruction.has_opcode ? Disassembler::of_thread().text(instruction) : "");
    } else if constexpr (kField != kData && kField != kPrefix) {
      p.line_.put<kFormat>(name, value_of<kField>(instruction));
    }
  }

  template <FieldsFormat kFormat, AccessField kField, unsigned kAccess>
  static void put(Printer& p, const Instruction& instruction, std::string_view name) {
    const bool has = kAccess < instruction.data_count;
    const DataAccess& access = instruction.data[kAccess];
    if constexpr (kField == AccessField::kSymbol) {
      put_symbol<kFormat>(p, name, has ? p.names_.data(access).text() : std::string_view());
    } else {
      Address address = value_of<kField>(access);
      address.known = has && address.known;
      p.line_.put<kFormat>(name, address);
    }
  }

  // Symbols of kernel modules contain a blank. Lines of text omit it.
  template <FieldsFormat kFormat>
  static void put_symbol(Printer& p, std::string_view name, std::string_view symbol) {
    if (kFormat == FieldsFormat::kText && symbol.find(' ') != std::string_view::npos) {
      p.text_ = symbol;
      std::erase(p.text_, ' ');
      symbol = p.text_;
    }
    p.line_.put_long<kFormat>(name, symbol);
  }

  struct Writer {
    std::string_view name;
    std::string_view suffix;
    std::array<Printer::Put, kFieldsFormats> put{};
    CoreFieldNeeds needs = {};
    bool is_called(std::string_view text) const {
      return text.starts_with(name) && text.substr(name.size()) == suffix;
    }
  };

  template <InstructionField kField>
  static constexpr Writer writer() {
    using enum InstructionField;
    constexpr bool kChosen = kField != kData && kField != kPrefix;
    return {.name = kChosen ? chosen_name(field_of(kField)) : std::string_view(),
            .suffix = {},
            .put = {put<FieldsFormat::kText, kField>, put<FieldsFormat::kJson, kField>,
                    put<FieldsFormat::kCsv, kField>},
            .needs = {.place = kField == kNumber || kField == kTicks,
                      .symbols = kField == kSymbol || kField == kLine || kField == kInlined,
                      .assembler = kField == kAssembler,
                      .lines = kField == kLine || kField == kInlined,
                      .names = kField == kSymbol,
                      .process = kField == kProcess}};
  }
  template <AccessField kField, unsigned kAccess>
  static constexpr Writer writer() {
    return {.name = chosen_name(field_of(kField)),
            .suffix = kAccess == 0 ? "" : "2",
            .put = {put<FieldsFormat::kText, kField, kAccess>,
                    put<FieldsFormat::kJson, kField, kAccess>,
                    put<FieldsFormat::kCsv, kField, kAccess>},
            .needs = {.symbols = kField == AccessField::kSymbol,
                      .names = kField == AccessField::kSymbol}};
  }
  template <size_t... i, size_t... j>
  static constexpr auto writers(std::index_sequence<i...>, std::index_sequence<j...>) {
    return std::array{writer<kInstructionFields[i].id>()..., writer<kAccessFields[j].id, 0>()...,
                      writer<kAccessFields[j].id, 1>()...};
  }
  static const auto& all() {
    static constexpr auto kAll = writers(std::make_index_sequence<kInstructionFields.size()>(),
                                         std::make_index_sequence<kAccessFields.size()>());
    return kAll;
  }
  // Returns null for an unknown name.
  static const Writer* find(std::string_view name) {
    const auto found =
        std::ranges::find_if(all(), [&](const Writer& writer) { return writer.is_called(name); });
    return found == all().end() || name.empty() ? nullptr : &*found;
  }
};

std::vector<std::string_view> core_field_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& writer : CoreFieldWriters::all()) {
      if (!writer.name.empty())
        all.push_back(std::string(writer.name) + std::string(writer.suffix));
    }
    return all;
  }();
  return {names.begin(), names.end()};
}

CoreFieldNeeds needs_of(const std::vector<std::string>& fields) {
  CoreFieldNeeds needs;
  for (const std::string& field : fields) {
    const auto* const writer = CoreFieldWriters::find(field);
    if (writer == nullptr) continue;
    needs.place |= writer->needs.place;
    needs.symbols |= writer->needs.symbols;
    needs.assembler |= writer->needs.assembler;
    needs.lines |= writer->needs.lines;
    needs.names |= writer->needs.names;
    needs.process |= writer->needs.process;
  }
  return needs;
}

CoreFieldsPrinter::CoreFieldsPrinter(TextOutput& output, const Wishes& wishes)
    : line_(output),
      format_(wishes.format),
      target_(ready_text(format_, format_ == FieldsFormat::kText ? without_controls(wishes.target)
                                                                 : wishes.target)),
      process_(ready_text(format_, Process::unknown().name)),
      names_(needs_of(wishes.fields).names ? wishes.symbols : nullptr),
      lines_(wishes.symbols, wishes.lines, line_writer(wishes.format),
             inlined_writer(wishes.format)),
      needs_place_(needs_of(wishes.fields).place) {
  for (const std::string& field : wishes.fields) {
    if (const auto* const writer = CoreFieldWriters::find(field)) {
      columns_.push_back({writer->put[static_cast<size_t>(format_)], field});
    }
  }
}

void CoreFieldsPrinter::instruction(const Instruction& instruction) {
  // names_.data() needs the preceding call of names_.code().
  if (names_.wanted()) code_name_ = names_.code(instruction);
  if (lines_.wanted()) {
    const bool has_file = instruction.has_ea && !owned::is_nobodys(instruction.ea.value);
    line_texts_ = has_file ? lines_.at(instruction) : LineTexts::Texts();
  }
  for (const Column& column : columns_) column.put(*this, instruction, column.name);
  line_.end(format_);
}

}  // namespace htmtrace

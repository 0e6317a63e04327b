// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/report/hot_blocks_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "core/base/counted.h"
#include "output/io/csv_field.h"
#include "output/io/percent.h"
#include "output/report/code_text.h"
#include "output/report/frame_text.h"
#include "output/report/parts.h"
#include "output/source_lines/line_texts.h"

namespace htmtrace {
namespace {

// The successors of a block.
struct Edges {
  ShortList list;
  uint64_t unknown = 0;  // executions with an unknown successor
};

Edges edges_of(const HotBlock& block, size_t most) {
  return {.list = short_list(block.successors, most), .unknown = block.executions - block.followed};
}

// Names an address in code. Callers with the same TOC enter a function at its local entry.
std::string place_text(const SymbolTable& symbols, uint64_t address) {
  const SymbolTable::Symbol* symbol = symbols.find_code({address});
  if (symbol == nullptr) return {};
  const bool is_local_entry = symbol->local_entry_bytes != 0 &&
                              owned::plain(address) - symbol->address == symbol->local_entry_bytes;
  return symbol_text(*symbol, address) + (is_local_entry ? " (local entry)" : "");
}

// Writes the begin of the function that contains an address, as nm(1) prints it.
void write_function(JsonWriter& json, const SymbolTable& symbols, uint64_t address) {
  write_symbol(json, code_symbol_or_nothing(symbols, address));
  const SymbolTable::Symbol* symbol = symbols.find_code({address});
  if (symbol == nullptr) return;
  json.text("function", fmt::format("0x{:016x}", symbol->address));
  const uint64_t distance = owned::plain(address) - symbol->address;
  const bool is_entry = distance == 0 || distance == symbol->local_entry_bytes;
  json.boolean("is_entry", is_entry);
}

// Returns the block's instructions that were kept.
std::vector<Instruction> instructions_of(uint64_t address, const HotBlock& block) {
  std::vector<Instruction> code;
  for (size_t i = 0; i < block.words.size(); i++) {
    Instruction instruction;
    instruction.ea = {address + 4 * i};
    instruction.has_ea = instruction.has_opcode = true;
    instruction.has_prefix = is_prefix(block.words[i]);
    if (instruction.has_prefix) {
      instruction.prefix = block.words[i++];
      if (i == block.words.size()) break;
    }
    instruction.opcode = block.words[i];
    code.push_back(instruction);
  }
  return code;
}

bool is_cut(const HotBlock& block, const std::vector<Instruction>& code) {
  return block.words.size() == BlockRun::kMostWords && block.longest > code.size();
}

// Returns the ticks of a mean execution, from the instructions whose ticks are known.
std::optional<double> ticks_of(const HotBlock& block) {
  if (block.time.instructions == 0) return std::nullopt;
  return static_cast<double>(block.time.ticks) / static_cast<double>(block.time.instructions) *
         static_cast<double>(block.count) / static_cast<double>(block.executions);
}

using Slots = std::vector<HotTable<HotBlock>::Slot>;

using Predictions = std::vector<std::optional<double>>;

// Returns a prediction for each block, in the same order. It is empty without a model, and for a
// block whose code is cut.
Predictions predictions_of(const Slots& blocks, CycleModel* model) {
  if (model == nullptr) return Predictions(blocks.size());
  std::vector<std::vector<Instruction>> codes;
  for (const auto& [address, block] : blocks) {
    codes.push_back(instructions_of(owned::plain(address), block));
    if (is_cut(block, codes.back())) codes.back().clear();
  }
  return model->predict(codes);
}

std::string number_text(std::optional<double> number) {
  return number ? fmt::format("{:.2f}", *number) : "-";
}

// Finds the source lines of a block's instructions.
class BlockLines {
 public:
  // `key` is the address of the block, with its owner.
  BlockLines(SourceFiles* files, uint64_t key) : files_(files), owner_(key - owned::plain(key)) {}

  const std::vector<SourceFrame>& frames(uint64_t address) {
    if (files_ != nullptr) files_->find({address + owner_}, frames_);
    return frames_;
  }
  // The line of text that precedes an instruction, if the preceding instruction has another line.
  std::string head(uint64_t address) {
    if (files_ == nullptr) return {};
    const std::string text = short_chain(frames(address));
    if (text == last_) return {};
    last_ = text;
    return fmt::format("    {}\n", text.empty() ? "(no source line)" : text);
  }

 private:
  SourceFiles* files_;
  uint64_t owner_;
  std::vector<SourceFrame> frames_;
  std::string last_;
};

void put_code(std::string& text, uint64_t key, const HotBlock& block, SourceFiles* files,
              Assembler& assembler) {
  const auto out = std::back_inserter(text);
  const std::vector<Instruction> code = instructions_of(owned::plain(key), block);
  BlockLines lines(files, key);
  for (const Instruction& instruction : code) {
    text += lines.head(instruction.ea.value);
    const std::string line = fmt::format("    {:016x}  {:<17}  {}", instruction.ea.value,
                                         words_text(instruction), assembler.text(instruction));
    fmt::format_to(out, "{}\n", without_trailing_blanks(line));
  }
  if (is_cut(block, code)) text += "    ...\n";
  if (block.rewritten != 0) {
    fmt::format_to(out, "    {} had other instructions here\n",
                   counted(block.rewritten, "execution"));
  }
}

void put_edges(std::string& text, const SymbolTable& symbols, const HotBlock& block) {
  const Edges edges = edges_of(block, kShownInText);
  const auto out = std::back_inserter(text);
  const auto put = [&](uint64_t count, const std::string& to) {
    fmt::format_to(out, "  -> {:>14} {:>6.2f}%  {}\n", count, percent(count, block.executions), to);
  };
  for (const auto& [to, count] : edges.list.shown) {
    const std::string symbol = place_text(symbols, to);
    put(count, fmt::format("{:016x}{}{}", owned::plain(to), symbol.empty() ? "" : "  ", symbol));
  }
  if (edges.list.others != 0) {
    put(edges.list.others,
        fmt::format("{}{}", edges.list.more_values ? "at least " : "",
                    counted(edges.list.other_values + (edges.list.more_values ? 1 : 0), "other")));
  }
  if (edges.unknown != 0) put(edges.unknown, "unknown: the report omits the next instruction");
}

void write_code(JsonWriter& json, uint64_t key, const HotBlock& block, SourceFiles* files,
                Assembler& assembler) {
  const std::vector<Instruction> code = instructions_of(owned::plain(key), block);
  BlockLines lines(files, key);
  json.begin_array("code");
  for (const Instruction& instruction : code) {
    json.begin_object();
    json.text("ea", fmt::format("0x{:016x}", instruction.ea.value));
    json.text("words", words_text(instruction));
    const std::string_view assembly = assembler.text(instruction);
    if (!assembly.empty()) json.text("asm", assembly);
    if (files != nullptr) write_frames(json, lines.frames(instruction.ea.value));
    json.end_object();
  }
  json.end_array();
  json.boolean("code_is_cut", is_cut(block, code));
  json.number("executions_of_other_code", block.rewritten);
}

void write_edges(JsonWriter& json, const SymbolTable& symbols, const Edges& edges) {
  json.begin_array("successors");
  for (const auto& [to, count] : edges.list.shown) {
    json.begin_object();
    json.text("ea", fmt::format("0x{:016x}", owned::plain(to)));
    write_function(json, symbols, to);
    json.number("executions", count);
    json.end_object();
  }
  json.end_array();
  write_others(json, "other_successors", "executions", edges.list);
  json.number("unknown_successors", edges.unknown);
}

}  // namespace

std::string HotBlocksReport::to_text() const {
  std::string text = fmt::format(
      "{}: {}\n{} reported, {} of basic blocks\n", counted(traces, "trace"), describe(totals),
      counted(blocks.instructions(), "instruction"), counted(blocks.executions(), "execution"));
  const auto out = std::back_inserter(text);
  if (blocks.unknown() != 0) {
    fmt::format_to(out, "not in a block, because their address or word is unknown: {}\n",
                   counted(blocks.unknown(), "instruction"));
  }
  const Slots hottest = blocks.blocks().top(top);
  const Predictions predicted = predictions_of(hottest, model);
  const bool timed = std::any_of(hottest.begin(), hottest.end(),
                                 [](const auto& slot) { return ticks_of(slot.entry).has_value(); });
  if (model != nullptr) {
    fmt::format_to(out, "predicted: cycles of an execution in a loop, llvm-mca of {}\n",
                   model->name());
  }
  fmt::format_to(out, "\nhot blocks{}\n{:>14} {:>7} {:>14} {:>8} {:>8}{}{}  {:<16}  {}\n",
                 table_remark(blocks.blocks()), "instructions", "share", "executions", "mean",
                 "longest", timed ? fmt::format(" {:>10}", "ticks") : "",
                 model != nullptr ? fmt::format(" {:>10}", "predicted") : "", "address",
                 "function");
  Assembler assembler;
  for (size_t i = 0; i < hottest.size(); i++) {
    const auto& [address, block] = hottest[i];
    const std::string symbol = place_text(symbols, address);
    fmt::format_to(out, "{:>14} {:>6.2f}% {:>14} {:>8.2f} {:>8}{}{}  {:016x}{}{}\n", block.count,
                   percent(block.count, blocks.instructions()), block.executions,
                   static_cast<double>(block.count) / static_cast<double>(block.executions),
                   block.longest, timed ? fmt::format(" {:>10}", number_text(ticks_of(block))) : "",
                   model != nullptr ? fmt::format(" {:>10}", number_text(predicted[i])) : "",
                   owned::plain(address), symbol.empty() ? "" : "  ", symbol);
    put_code(text, address, block, lines, assembler);
    put_edges(text, symbols, block);
  }
  return text;
}

std::string HotBlocksReport::to_json() const {
  JsonWriter json;
  json.begin_object();
  write_basis(json, "htmtrace-hot-blocks", totals, traces);
  json.number("instructions", blocks.instructions());
  json.number("instructions_in_no_block", blocks.unknown());
  json.number("executions", blocks.executions());
  json.number("error", blocks.blocks().error());
  const Slots hottest = blocks.blocks().top(top);
  const Predictions predicted = predictions_of(hottest, model);
  if (model != nullptr) json.text("cycle_model", model->name());
  json.begin_array("blocks");
  Assembler assembler;
  for (size_t i = 0; i < hottest.size(); i++) {
    const auto& [address, block] = hottest[i];
    json.begin_object();
    json.text("ea", fmt::format("0x{:016x}", owned::plain(address)));
    write_function(json, symbols, address);
    json.number("instructions", block.count);
    json.number("executions", block.executions);
    json.number("longest", block.longest);
    json.number("ticks", block.time.ticks);
    json.number("timed_instructions", block.time.instructions);
    if (predicted[i]) {
      json.formatted("predicted_cycles", number_text(predicted[i]));
    } else if (model != nullptr) {
      json.null("predicted_cycles");
    }
    write_edges(json, symbols, edges_of(block, top));
    write_code(json, address, block, lines, assembler);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.take();
}

std::string HotBlocksReport::to_csv() const {
  std::string text =
      "ea,symbol,instructions,executions,longest,error,to,to_symbol,followed,values,ticks,"
      "timed_instructions,predicted_cycles";
  text += lines == nullptr ? "\n" : ",line\n";
  std::vector<SourceFrame> frames;
  const Slots hottest = blocks.blocks().top(top);
  const Predictions predicted = predictions_of(hottest, model);
  for (size_t i = 0; i < hottest.size(); i++) {
    const auto& [address, block] = hottest[i];
    const std::string begin =
        fmt::format("0x{:016x},{},{},{},{},{},", owned::plain(address),
                    csv_field(code_symbol_or_nothing(symbols, address)), block.count,
                    block.executions, block.longest, blocks.blocks().error());
    const std::string end = fmt::format("{},{},{}", block.time.ticks, block.time.instructions,
                                        predicted[i] ? number_text(predicted[i]) : std::string());
    const Edges edges = edges_of(block, top);
    std::string line;
    if (lines != nullptr) {
      lines->find({address}, frames);
      line = "," + csv_field(line_text(frames, !owned::is_unproven(address)));
    }
    const auto put = [&](std::string_view to, const std::string& symbol, uint64_t count,
                         uint64_t values) {
      fmt::format_to(std::back_inserter(text), "{}{},{},{},{},{}{}\n", begin, to, csv_field(symbol),
                     count, values, end, line);
    };
    for (const auto& [to, count] : edges.list.shown) {
      put(fmt::format("0x{:016x}", owned::plain(to)), code_symbol_or_nothing(symbols, to), count,
          1);
    }
    const ShortList& list = edges.list;
    if (list.others != 0) {
      put("others", "", list.others, list.other_values + (list.more_values ? 1 : 0));
    }
    if (edges.unknown != 0) put("unknown", "", edges.unknown, 0);
  }
  return text;
}

}  // namespace htmtrace

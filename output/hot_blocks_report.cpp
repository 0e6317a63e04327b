// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/hot_blocks_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

#include "output/csv_printer.h"
#include "output/disassembler.h"
#include "output/percent.h"
#include "output/report_parts.h"

namespace htmtrace {
namespace {

// What ran behind a block.
struct Edges {
  struct Edge {
    uint64_t to = 0;
    uint64_t count = 0;
  };
  std::vector<Edge> shown;
  uint64_t others = 0;
  uint64_t unknown = 0;   // executions behind which something is left out
  bool at_least = false;  // counts of those shown
};

Edges edges_of(const HotBlock& block) {
  Edges edges{.shown = {}, .others = block.followed, .unknown = block.executions - block.followed};
  uint64_t kept = 0;
  for (const auto& [to, count] : block.successors.sorted()) {
    kept += count;
    if (edges.shown.size() == HotBlocksReport::kShownSuccessors) continue;
    edges.shown.push_back({to, count});
    edges.others -= count;
  }
  edges.at_least = kept != block.followed;
  return edges;
}

// Power ISA 3.1, Book I, 1.6.3: a prefix has primary opcode 1.
bool is_prefix(uint32_t word) {
  return control_flow::primary(word) == 1;
}

// Its instructions, as far as they are kept.
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
  return block.words.size() == HotBlock::kMostWords && block.longest > code.size();
}

std::string words_text(const Instruction& instruction) {
  if (!instruction.has_prefix) return fmt::format("{:08x}", instruction.opcode);
  return fmt::format("{:08x} {:08x}", instruction.prefix, instruction.opcode);
}

// Assembler, where this build can.
class Assembler {
 public:
  Assembler() {
    if (can_disassemble()) disassembler_.emplace();
  }
  std::string_view text(const Instruction& instruction) {
    return disassembler_ ? disassembler_->text(instruction) : std::string_view();
  }

 private:
  std::optional<Disassembler> disassembler_;
};

void put_code(std::string& text, uint64_t address, const HotBlock& block, Assembler& assembler) {
  const auto out = std::back_inserter(text);
  const std::vector<Instruction> code = instructions_of(address, block);
  for (const Instruction& instruction : code) {
    const std::string line = fmt::format("    {:016x}  {:<17}  {}", instruction.ea.value,
                                         words_text(instruction), assembler.text(instruction));
    fmt::format_to(out, "{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
  }
  if (is_cut(block, code)) text += "    ...\n";
  if (block.rewritten != 0) {
    fmt::format_to(out, "    in {} executions other instructions were here\n", block.rewritten);
  }
}

void put_edges(std::string& text, const SymbolTable& symbols, const HotBlock& block) {
  const Edges edges = edges_of(block);
  const auto out = std::back_inserter(text);
  const auto put = [&](uint64_t count, const std::string& to) {
    fmt::format_to(out, "  -> {:>14} {:>6.2f}%  {}\n", count, percent(count, block.executions), to);
  };
  for (const auto& [to, count] : edges.shown) {
    const std::string symbol = symbol_or_nothing(symbols, to);
    put(count, fmt::format("{:016x}{}{}{}", to, symbol.empty() ? "" : "  ", symbol,
                           edges.at_least ? " (at least)" : ""));
  }
  if (edges.others != 0) put(edges.others, "others");
  if (edges.unknown != 0) put(edges.unknown, "unknown: something is left out behind it");
}

void write_code(JsonWriter& json, uint64_t address, const HotBlock& block, Assembler& assembler) {
  const std::vector<Instruction> code = instructions_of(address, block);
  json.begin_array("code");
  for (const Instruction& instruction : code) {
    json.begin_object();
    json.text("ea", fmt::format("0x{:016x}", instruction.ea.value));
    json.text("words", words_text(instruction));
    const std::string_view assembly = assembler.text(instruction);
    if (!assembly.empty()) json.text("asm", assembly);
    json.end_object();
  }
  json.end_array();
  json.boolean("code_is_cut", is_cut(block, code));
  json.number("executions_of_other_code", block.rewritten);
}

void write_edges(JsonWriter& json, const SymbolTable& symbols, const HotBlock& block) {
  const Edges edges = edges_of(block);
  json.begin_array("successors");
  for (const auto& [to, count] : edges.shown) {
    json.begin_object();
    json.text("ea", fmt::format("0x{:016x}", to));
    write_symbol(json, symbols, to);
    json.number(edges.at_least ? "at_least" : "executions", count);
    json.end_object();
  }
  json.end_array();
  json.number("other_successors", edges.others);
  json.number("unknown_successors", edges.unknown);
}

}  // namespace

std::string HotBlocksReport::to_text() const {
  std::string text =
      fmt::format("{} traces: {}\n{} instructions reported, {} executions of basic blocks\n",
                  traces, describe(totals), blocks.instructions(), blocks.executions());
  const auto out = std::back_inserter(text);
  if (blocks.unknown() != 0) {
    fmt::format_to(out, "{} instructions without a known address or word are in no block\n",
                   blocks.unknown());
  }
  fmt::format_to(out, "\nhot blocks{}\n{:>14} {:>7} {:>14} {:>8} {:>8}  {:<16}  {}\n",
                 table_remark(blocks.blocks()), "instructions", "share", "executions", "mean",
                 "longest", "address", "function");
  Assembler assembler;
  for (const auto& [address, block] : blocks.blocks().top(top)) {
    const std::string symbol = symbol_or_nothing(symbols, address);
    fmt::format_to(out, "{:>14} {:>6.2f}% {:>14} {:>8.2f} {:>8}  {:016x}{}{}\n", block.count,
                   percent(block.count, blocks.instructions()), block.executions,
                   static_cast<double>(block.count) / static_cast<double>(block.executions),
                   block.longest, address, symbol.empty() ? "" : "  ", symbol);
    put_code(text, address, block, assembler);
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
  json.begin_array("blocks");
  Assembler assembler;
  for (const auto& [address, block] : blocks.blocks().top(top)) {
    json.begin_object();
    json.text("ea", fmt::format("0x{:016x}", address));
    write_symbol(json, symbols, address);
    json.number("instructions", block.count);
    json.number("executions", block.executions);
    json.number("longest", block.longest);
    write_edges(json, symbols, block);
    write_code(json, address, block, assembler);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.take();
}

std::string HotBlocksReport::to_csv() const {
  std::string text =
      "ea,symbol,instructions,executions,longest,error,to,to_symbol,followed,at_least\n";
  for (const auto& [address, block] : blocks.blocks().top(top)) {
    const std::string begin = fmt::format(
        "0x{:016x},{},{},{},{},{},", address, csv_field(symbol_or_nothing(symbols, address)),
        block.count, block.executions, block.longest, blocks.blocks().error());
    const Edges edges = edges_of(block);
    const auto put = [&](std::string_view to, const std::string& symbol, uint64_t count,
                         bool at_least) {
      fmt::format_to(std::back_inserter(text), "{}{},{},{},{}\n", begin, to, csv_field(symbol),
                     count, at_least ? 1 : 0);
    };
    for (const auto& [to, count] : edges.shown) {
      put(fmt::format("0x{:016x}", to), symbol_or_nothing(symbols, to), count, edges.at_least);
    }
    if (edges.others != 0) put("others", "", edges.others, false);
    if (edges.unknown != 0) put("unknown", "", edges.unknown, false);
  }
  return text;
}

}  // namespace htmtrace

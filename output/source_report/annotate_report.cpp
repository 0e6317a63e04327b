// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/source_report/annotate_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string_view>

#include "core/base/counted.h"
#include "core/base/plain_text.h"
#include "output/io/json_writer.h"
#include "output/io/percent.h"
#include "output/report/code_text.h"
#include "output/report/frame_text.h"
#include "output/report/parts.h"

namespace htmtrace {
namespace {

// An instruction of a function, executed or not.
struct CodeLine {
  Instruction instruction;
  uint64_t key = 0;  // its address with its owner
  const AddressCount* count = nullptr;
};

// The instructions of a function that ran, or that its program file has, by their addresses.
class FunctionCode {
 public:
  using Counts = std::map<uint64_t, AddressCount>;

  FunctionCode(const AnnotateReport& report, const ExecutedFunction& function, const Counts& counts)
      : function_(function),
        counts_(counts),
        owner_(function.key - owned::plain(function.key)),
        address_(function.begin) {
    const auto& programs = report.symbols.programs();
    if (function.program < programs.size()) program_ = &programs[function.program];
  }

  std::optional<CodeLine> next() {
    const auto ran = next_ran();
    const auto stored = next_stored();
    const bool has_run = ran != counts_.end();
    if (!has_run && !stored) return std::nullopt;
    CodeLine line;
    if (has_run && (!stored || owned::plain(ran->first) <= stored->address)) {
      line = counted_line(ran->first, ran->second);
    } else {
      idle_++;
      line = stored_line(*stored);
    }
    address_ = line.instruction.ea.value + (line.instruction.has_prefix ? 8 : 4);
    return line;
  }
  // Whether instructions that did not run are omitted.
  bool is_cut() const { return idle_ == AnnotateReport::kMostIdle; }

 private:
  Counts::const_iterator next_ran() const {
    const auto found = counts_.lower_bound(owner_ + address_);
    const bool is_inside = found != counts_.end() && holds(owned::plain(found->first)) &&
                           found->first - owned::plain(found->first) == owner_;
    return is_inside ? found : counts_.end();
  }
  std::optional<SymbolTable::Program::Word> next_stored() const {
    if (program_ == nullptr || is_cut()) return std::nullopt;
    const auto word = program_->word_from(address_);
    return word && holds(word->address) ? word : std::nullopt;
  }
  // Also false after the last address, where address_ wraps.
  bool holds(uint64_t address) const {
    return address_ >= function_.begin && address >= address_ && address < function_.end;
  }
  static CodeLine counted_line(uint64_t key, const AddressCount& count) {
    CodeLine line{.instruction = {}, .key = key, .count = &count};
    line.instruction.ea = {owned::plain(key)};
    line.instruction.has_ea = true;
    line.instruction.has_opcode = count.has_opcode;
    line.instruction.has_prefix = count.has_prefix;
    line.instruction.opcode = count.opcode;
    line.instruction.prefix = count.prefix;
    return line;
  }
  CodeLine stored_line(const SymbolTable::Program::Word& word) const {
    CodeLine line{.instruction = {}, .key = word.address + owner_};
    line.instruction.ea = {word.address};
    line.instruction.has_ea = line.instruction.has_opcode = true;
    line.instruction.opcode = word.word;
    if (!is_prefix(word.word)) return line;
    const auto suffix = program_->word_from(word.address + 4);
    if (suffix && suffix->address == word.address + 4) {
      line.instruction.has_prefix = true;
      line.instruction.prefix = word.word;
      line.instruction.opcode = suffix->word;
    }
    return line;
  }

  const ExecutedFunction& function_;
  const Counts& counts_;
  const SymbolTable::Program* program_ = nullptr;
  const uint64_t owner_;
  uint64_t address_;  // all earlier instructions were returned
  size_t idle_ = 0;
};

// Passes a text in pieces.
class Pieces {
 public:
  explicit Pieces(const AnnotateReport::Put& put) : put_(put) {}

  std::string text;

  void put_if_long() {
    if (text.size() >= kLongBytes) put_all();
  }
  void put_all() {
    put_(text);
    text.clear();
  }

 private:
  static constexpr size_t kLongBytes = 1 << 16;
  const AnnotateReport::Put& put_;
};

// The assembly, or the words if this build cannot disassemble.
std::string code_text(const Instruction& instruction, Assembler& assembler) {
  if (!instruction.has_opcode) return "(the trace does not state the instruction)";
  const std::string_view assembly = assembler.text(instruction);
  return assembly.empty() ? words_text(instruction) : std::string(assembly);
}

std::string number_or_blank(uint64_t number) {
  return number == 0 ? "" : fmt::format("{}", number);
}

std::string data_text(const AnnotateReport& report, const AddressCount& count) {
  if (count.data == 0 || count.lowest_ea == AddressCount::kNoAddress) return {};
  const std::string name = range_name(report.symbols, count.lowest_ea, count.highest_ea);
  const uint64_t first = owned::plain(count.lowest_ea), last = owned::plain(count.highest_ea);
  const std::string range =
      first == last ? fmt::format("{:x}", first) : fmt::format("{:x}-{:x}", first, last);
  return name.empty() ? range : fmt::format("{} {}", range, name);
}

// The lines of text that precede the instructions of a source line.
class LineHeads {
 public:
  explicit LineHeads(const AnnotateReport& report) : report_(report) {}

  // Returns the lines, or an empty text if the preceding instruction has the same frames.
  std::string head(const CodeLine& line) {
    report_.lines.find({line.key}, frames_);
    if (!is_first_ && frames_ == previous_) return {};
    std::string text;
    const bool same_chain = !is_first_ && std::ranges::equal(tail(frames_), tail(previous_)) &&
                            (frames_.empty() || previous_.empty() ||
                             frames_.front().function == previous_.front().function);
    if (!same_chain) text += chain_text();
    if (frames_.empty() || frames_.front().file.empty()) {
      text += "(no source line)\n";
    } else {
      const SourceFrame& frame = frames_.front();
      const std::string source =
          fmt::format("{:<20} {}", short_line(frame),
                      report_.sources.line(std::string(frame.file), frame.line));
      text += std::string(without_trailing_blanks(source)) + "\n";
    }
    is_first_ = false;
    previous_ = frames_;
    return text;
  }

 private:
  using Frames = std::vector<SourceFrame>;

  static std::span<const SourceFrame> tail(const Frames& frames) {
    return std::span(frames).subspan(frames.empty() ? 0 : 1);
  }
  // The function of the next instructions, if it differs from the preceding function.
  std::string chain_text() const {
    const std::string text = inlined_chain(frames_);
    if (!text.empty()) return "  " + text + "\n";
    return previous_.size() < 2 ? "" : "  not inlined\n";
  }

  const AnnotateReport& report_;
  Frames frames_;
  Frames previous_;
  bool is_first_ = true;
};

std::map<uint64_t, AddressCount> sorted(const AddressCounts& counts) {
  std::map<uint64_t, AddressCount> rows;
  counts.counts().visit([&](uint64_t key, const AddressCount& count) { rows.emplace(key, count); });
  return rows;
}

std::string file_of(const SymbolTable& symbols, const ExecutedFunction& function) {
  if (function.program >= symbols.programs().size()) return {};
  return symbols.programs()[function.program].file;
}

void put_function(const AnnotateReport& report, const ExecutedFunction& function,
                  const std::map<uint64_t, AddressCount>& counts, Assembler& assembler,
                  Pieces& pieces) {
  std::string& text = pieces.text;
  const auto out = std::back_inserter(text);
  const std::string file = without_controls(file_of(report.symbols, function));
  fmt::format_to(out, "\n{}{}{}: {} ({:.2f}%)\n", function.name, file.empty() ? "" : " of ", file,
                 counted(function.count, "instruction"),
                 percent(function.count, report.counts.instructions()));
  fmt::format_to(out, "{:>12} {:>12} {:>12} {:>12} {:>12}  {:<16}  {}\n", "executions", "taken",
                 "not taken", "ticks", "data", "address", "instruction, and its data");
  LineHeads heads(report);
  FunctionCode code_lines(report, function, counts);
  while (const std::optional<CodeLine> next = code_lines.next()) {
    const CodeLine& line = *next;
    pieces.put_if_long();
    text += heads.head(line);
    const AddressCount none;
    const AddressCount& count = line.count == nullptr ? none : *line.count;
    const std::string code = code_text(line.instruction, assembler);
    const std::string data = data_text(report, count);
    const std::string row = fmt::format(
        "{:>12} {:>12} {:>12} {:>12} {:>12}  {:016x}  {}{}{}{}",
        line.count == nullptr ? "-" : number_or_blank(count.count), number_or_blank(count.taken),
        number_or_blank(count.not_taken), number_or_blank(count.ticks()),
        number_or_blank(count.data), line.instruction.ea.value, code, data.empty() ? "" : "  # ",
        data, count.rewritten ? "  (rewritten)" : "");
    fmt::format_to(out, "{}\n", without_trailing_blanks(row));
  }
  if (code_lines.is_cut()) text += "(further instructions that did not run are omitted)\n";
}

void write_line(JsonWriter& json, const AnnotateReport& report, const CodeLine& line,
                Assembler& assembler) {
  const AddressCount none;
  const AddressCount& count = line.count == nullptr ? none : *line.count;
  json.begin_object();
  json.text("ea", fmt::format("0x{:016x}", line.instruction.ea.value));
  if (line.instruction.has_opcode) {
    json.text("words", words_text(line.instruction));
    const std::string_view assembly = assembler.text(line.instruction);
    if (!assembly.empty()) json.text("asm", assembly);
  }
  json.number("executions", count.count);
  json.number("taken", count.taken);
  json.number("not_taken", count.not_taken);
  json.number("ticks", count.ticks());
  json.number("data_accesses", count.data);
  if (count.data != 0 && count.lowest_ea != AddressCount::kNoAddress) {
    json.text("lowest_data", fmt::format("0x{:016x}", owned::plain(count.lowest_ea)));
    json.text("highest_data", fmt::format("0x{:016x}", owned::plain(count.highest_ea)));
    const std::string name = range_name(report.symbols, count.lowest_ea, count.highest_ea);
    if (!name.empty()) json.text("data_symbols", name);
  }
  json.boolean("rewritten", count.rewritten);
  std::vector<SourceFrame> frames;
  report.lines.find({line.key}, frames);
  write_frames(json, frames);
  if (!frames.empty()) {
    const SourceFrame& frame = frames.front();
    const std::string_view source = report.sources.line(std::string(frame.file), frame.line);
    if (!source.empty()) json.text("source", source);
  }
  json.end_object();
}

}  // namespace

std::vector<ExecutedFunction> executed_functions(const AddressCounts& counts,
                                                 const SymbolTable& symbols,
                                                 const SymbolSet* chosen) {
  std::map<uint64_t, ExecutedFunction> functions;  // by symbol_key()
  counts.counts().visit([&](uint64_t key, const AddressCount& count) {
    const SymbolTable::Span span = symbols.code_span_of({key});
    if (span.symbol == nullptr) return;
    if (chosen != nullptr && chosen->parts_of(span.symbol).empty()) return;
    ExecutedFunction& function = functions[symbol_key(span, {key})];
    if (function.count == 0) {
      const uint64_t owner = symbols.programs().empty() ? 0 : owned::owner(key);
      function.name = span.symbol->name + (owned::is_unproven(key) ? "?" : "");
      function.key = key;
      function.begin = span.symbol->address;
      // The size is from the file, and may exceed the address space.
      function.end = std::max(function.begin, function.begin + span.symbol->size_bytes);
      if (span.symbol->size_bytes > ~function.begin) function.end = ~uint64_t{0};
      if (owner != 0 && owner != owned::kForeign) function.program = owned::program(owner);
    }
    function.count += count.count;
  });
  std::vector<ExecutedFunction> all;
  all.reserve(functions.size());
  for (auto& [key, function] : functions) all.push_back(std::move(function));
  std::ranges::stable_sort(all, std::greater<>(), &ExecutedFunction::count);
  return all;
}

void AnnotateReport::put_text(const Put& put) const {
  Pieces pieces(put);
  std::string& text = pieces.text;
  text = fmt::format("{}: {}\n{} and {} reported\n", counted(traces, "trace"), describe(totals),
                     counted(counts.instructions(), "instruction"),
                     counted(counts.data_accesses(), "data access"));
  const auto out = std::back_inserter(text);
  if (counts.unknown() != 0) {
    fmt::format_to(out, "in no function: {} without a known address\n",
                   counted(counts.unknown(), "instruction"));
  }
  if (counts.counts().error() != 0) {
    fmt::format_to(out, "constant memory: counts may be too small by at most {}\n",
                   counts.counts().error());
  }
  if (counts.unshared_ticks() != 0) {
    fmt::format_to(out, "{} are in no count: too many instructions between two stamps\n",
                   counted(counts.unshared_ticks(), "tick"));
  }
  const std::map<uint64_t, AddressCount> rows = sorted(counts);
  Assembler assembler;
  for (const ExecutedFunction& function : functions) {
    put_function(*this, function, rows, assembler, pieces);
  }
  pieces.put_all();
}

void AnnotateReport::put_json(const Put& put) const {
  const std::map<uint64_t, AddressCount> rows = sorted(counts);
  Assembler assembler;
  JsonWriter json;
  json.begin_object();
  write_basis(json, "htmtrace-annotate", totals, traces);
  json.number("instructions", counts.instructions());
  json.number("data_accesses", counts.data_accesses());
  json.number("code_without_address", counts.unknown());
  json.number("error", counts.counts().error());
  json.number("ticks_in_no_count", counts.unshared_ticks());
  json.begin_array("functions");
  for (const ExecutedFunction& function : functions) {
    json.begin_object();
    json.text("symbol", function.name);
    json.text("ea", fmt::format("0x{:016x}", function.begin));
    const std::string file = file_of(symbols, function);
    if (!file.empty()) json.text("program", file);
    json.number("instructions", function.count);
    json.begin_array("code");
    FunctionCode code(*this, function, rows);
    while (const std::optional<CodeLine> line = code.next()) {
      write_line(json, *this, *line, assembler);
      put(json.take_part());
    }
    json.end_array();
    json.boolean("is_cut", code.is_cut());
    json.end_object();
  }
  json.end_array();
  json.end_object();
  put(json.take());
}

}  // namespace htmtrace

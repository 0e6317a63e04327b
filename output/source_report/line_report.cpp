// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/source_report/line_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <tuple>

#include "core/base/counted.h"
#include "output/io/csv_field.h"
#include "output/io/json_writer.h"
#include "output/io/percent.h"
#include "output/report/frame_text.h"
#include "output/report/parts.h"
#include "output/source_lines/line_texts.h"

namespace htmtrace {
namespace {

struct Row {
  HotLine line;
  uint64_t most = 0;  // executions of the instruction at its address
};

std::string marked(std::string_view function, bool is_proven) {
  return std::string(function) + (function.empty() ? "" : proof_mark(is_proven));
}

std::string function_text(const HotLine& line) {
  std::string function = line.function_name();
  if (line.inlined_into.empty()) return function;
  return fmt::format("{} inlined into {}{}", function.empty() ? "?" : function, line.caller_name(),
                     line.has_other_callers ? " and others" : "");
}

}  // namespace

std::string HotLine::function_name() const {
  return marked(function, is_proven);
}

std::string HotLine::caller_name() const {
  return marked(inlined_into, is_proven);
}

// Many rows may share long texts, so the rows refer to them.
std::vector<HotLine> LineReport::rows() const {
  using Key = std::tuple<std::string_view, uint32_t, std::string_view, bool>;
  std::map<Key, Row> rows;
  std::vector<SourceFrame> frames;
  // The order of the table depends on a secret, so ties go to the lower address.
  const auto add = [&](uint64_t key, const AddressCount& count) {
    lines.find({key}, frames);
    const SymbolTable::Symbol* const symbol = symbols.find_code({key});
    const bool is_proven = !owned::is_unproven(key);
    // The symbol table has the names of clones, which the debug information lacks.
    std::string_view outermost;
    if (symbol != nullptr) outermost = symbol->name;
    if (outermost.empty() && !frames.empty()) outermost = frames.back().function;
    const SourceFrame frame = frames.empty() ? SourceFrame() : frames.front();
    const std::string_view caller = frames.size() > 1 ? outermost : std::string_view();
    const std::string_view function = frames.size() > 1 ? frame.function : outermost;
    Row& row = rows[{frame.file, frame.line, function, is_proven}];
    HotLine& line = row.line;
    if (line.count == 0) {
      line.file = frame.file;
      line.line = frame.line;
      line.function = function;
      line.is_proven = is_proven;
      line.inlined_into = caller;
    } else if (!caller.empty() && line.inlined_into != caller) {
      line.has_other_callers |= !line.inlined_into.empty();
      if (line.inlined_into.empty() || count.count > row.most) line.inlined_into = caller;
    }
    line.count += count.count;
    line.data += count.data;
    if (count.count > row.most) {
      row.most = count.count;
      line.address = owned::plain(key);
    }
  };
  std::map<uint64_t, AddressCount> sorted;
  counts.counts().visit(
      [&](uint64_t key, const AddressCount& count) { sorted.emplace(key, count); });
  for (const auto& [key, count] : sorted) add(key, count);
  std::vector<HotLine> all;
  all.reserve(rows.size());
  for (auto& [key, row] : rows) all.push_back(row.line);
  std::ranges::stable_sort(all, std::greater<>(), &HotLine::count);
  return all;
}

std::string LineReport::to_text() const {
  std::string text = fmt::format("{}: {}\n{} and {} reported\n", counted(traces, "trace"),
                                 describe(totals), counted(counts.instructions(), "instruction"),
                                 counted(counts.data_accesses(), "data access"));
  const auto out = std::back_inserter(text);
  if (counts.unknown() != 0) {
    fmt::format_to(out, "not in a table: {} without a known address\n",
                   counted(counts.unknown(), "instruction"));
  }
  fmt::format_to(out, "\nhot lines{}\n{:>14} {:>7} {:>14}  {:<24}  {}\n",
                 table_remark(counts.counts()), "instructions", "share", "data accesses", "line",
                 "function");
  const std::vector<HotLine> all = rows();
  for (size_t i = 0; i < std::min(top, all.size()); i++) {
    const HotLine& line = all[i];
    const std::string place =
        line.file.empty() ? "-" : fmt::format("{}:{}", file_name(line.file), line.line);
    const std::string function = function_text(line);
    fmt::format_to(out, "{:>14} {:>6.2f}% {:>14}  {:<24}  {}\n", line.count,
                   percent(line.count, counts.instructions()), line.data, place,
                   function.empty() ? fmt::format("{:016x}", line.address) : function);
  }
  return text;
}

std::string LineReport::to_json() const {
  JsonWriter json;
  json.begin_object();
  write_basis(json, "htmtrace-hot-lines", totals, traces);
  json.number("instructions", counts.instructions());
  json.number("data_accesses", counts.data_accesses());
  json.number("code_without_address", counts.unknown());
  json.number("error", counts.counts().error());
  json.begin_array("lines");
  const std::vector<HotLine> all = rows();
  for (size_t i = 0; i < std::min(top, all.size()); i++) {
    const HotLine& line = all[i];
    json.begin_object();
    if (line.file.empty()) {
      json.null("file");
    } else {
      json.text("file", line.file);
      json.number("line", uint64_t{line.line});
    }
    if (line.function.empty()) {
      json.null("function");
    } else {
      json.text("function", line.function_name());
    }
    if (!line.inlined_into.empty()) json.text("inlined_into", line.caller_name());
    json.boolean("other_callers", line.has_other_callers);
    json.text("ea", fmt::format("0x{:016x}", line.address));
    json.number("instructions", line.count);
    json.number("data_accesses", line.data);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.take();
}

std::string LineReport::to_csv() const {
  std::string text =
      "file,line,function,inlined_into,other_callers,ea,instructions,data_accesses,error\n";
  const std::vector<HotLine> all = rows();
  for (size_t i = 0; i < std::min(top, all.size()); i++) {
    const HotLine& line = all[i];
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},0x{:016x},{},{},{}\n",
                   csv_field(line.file), line.line, csv_field(line.function_name()),
                   csv_field(line.caller_name()), line.has_other_callers ? 1 : 0, line.address,
                   line.count, line.data, counts.counts().error());
  }
  return text;
}

}  // namespace htmtrace

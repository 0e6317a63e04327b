// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/report/hot_spots_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include "core/base/counted.h"
#include "core/base/size_text.h"
#include "output/io/csv_field.h"
#include "output/io/json_writer.h"
#include "output/io/percent.h"
#include "output/report/parts.h"
#include "output/report/walk_report.h"

namespace htmtrace {
namespace {

template <size_t N, class Count>
std::string mix_text(const char* title, const std::array<std::string_view, N>& names,
                     uint64_t whole, const Count& count) {
  std::string text = fmt::format("\n{}\n", title);
  for (size_t i = 0; i < N; i++) {
    const uint64_t part = count(i);
    if (part == 0) continue;
    fmt::format_to(std::back_inserter(text), "{:>14} {:>6.2f}%  {}\n", part, percent(part, whole),
                   names[i]);
  }
  return text;
}

template <size_t N, class Count>
std::string mix_csv(const char* table, const std::array<std::string_view, N>& names,
                    const Count& count) {
  std::string text;
  for (size_t i = 0; i < N; i++) {
    if (count(i) == 0) continue;
    fmt::format_to(std::back_inserter(text), "{},,{},0,,,,,{},,,\n", table, count(i), names[i]);
  }
  return text;
}

std::string data_text(const HotSpotsReport& report, size_t place) {
  const HotSpots& spots = report.spots;
  const HotTable<HotData>& table = spots.data().at(place);
  std::string text =
      fmt::format("\nhot data by {} address, units of {}{}\n", key_name(spots.wishes().key),
                  exact_size(spots.wishes().units.at(place)), table_remark(table));
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "{:>14} {:>7} {:>12} {:>12} {:>9}  {:<16}  {:<16}  {}\n", "accesses", "share",
                 "loads", "stores", "atomics", "address", "effective", "touched by");
  for (const auto& [key, hot] : table.top(report.top)) {
    fmt::format_to(out, "{:>14} {:>6.2f}% {:>12} {:>12} {:>9}  {:016x}  {}", hot.count,
                   percent(hot.count, spots.data_accesses()), hot.loads, hot.stores, hot.atomics,
                   key, effective_text(hot, "", "----------------"));
    const std::string sites = sites_text(spots.symbols(), hot, kShownInText);
    const std::string objects = objects_text(spots.symbols(), hot, kShownInText);
    fmt::format_to(out, "{}{}{}{}\n", sites.empty() ? "" : "  ", sites,
                   objects.empty() ? "" : "  in ", objects);
  }
  return text;
}

std::string code_text(const HotSpotsReport& report) {
  const HotSpots& spots = report.spots;
  std::string text =
      fmt::format("\nhot code{}\n{:>14} {:>7} {:>14}  {:<16}  {}\n", table_remark(spots.code()),
                  "instructions", "share", "data accesses", "address", "function");
  for (const auto& [key, hot] : spots.code().top(report.top)) {
    const Named code = named_code(spots.symbols(), key);
    fmt::format_to(std::back_inserter(text), "{:>14} {:>6.2f}% {:>14}  {:016x}  {}\n", hot.count,
                   percent(hot.count, spots.instructions()), hot.data, code.address, code.symbol);
  }
  return text;
}

std::string owners_text(const HotSpots& spots) {
  std::string text =
      fmt::format("\nby the partition that owns the memory\n{:>14} {:>7} {:>14} {:>7}  {}\n",
                  "instructions", "share", "data accesses", "share", "partition");
  for (const auto& [owner, work] : spots.owners().rows()) {
    fmt::format_to(std::back_inserter(text), "{:>14} {:>6.2f}% {:>14} {:>6.2f}%  {}\n", work.count,
                   percent(work.count, spots.instructions()), work.data,
                   percent(work.data, spots.data_accesses()), owner_name(owner));
  }
  return text;
}

std::string processes_text(const HotSpots& spots) {
  std::string text = fmt::format("\nby process\n{:>14} {:>7} {:>14} {:>7}  {}\n", "instructions",
                                 "share", "data accesses", "share", "process");
  for (const auto& [name, work] : process_rows(spots)) {
    fmt::format_to(std::back_inserter(text), "{:>14} {:>6.2f}% {:>14} {:>6.2f}%  {}\n", work.count,
                   percent(work.count, spots.instructions()), work.data,
                   percent(work.data, spots.data_accesses()), name);
  }
  return text;
}

void write_processes(JsonWriter& json, const HotSpots& spots) {
  json.begin_array("processes");
  for (const auto& [name, work] : process_rows(spots)) {
    json.begin_object();
    json.text("process", name);
    json.number("instructions", work.count);
    json.number("data_accesses", work.data);
    json.end_object();
  }
  json.end_array();
}

void write_owners(JsonWriter& json, const HotSpots& spots) {
  json.begin_array("partitions");
  for (const auto& [owner, work] : spots.owners().rows()) {
    json.begin_object();
    json.text("partition", owner_name(owner));
    json.number("instructions", work.count);
    json.number("data_accesses", work.data);
    json.end_object();
  }
  json.end_array();
}

void write_mix(JsonWriter& json, const HotSpots& spots) {
  json.begin_object("privileges");
  for (size_t i = 0; i < kPrivileges; i++) {
    json.number(kPrivilegeNames.at(i), spots.of_privilege(static_cast<Privilege>(i)));
  }
  json.end_object();
  json.begin_object("classes");
  for (size_t i = 0; i < kInstructionClasses; i++) {
    json.number(kInstructionClassNames.at(i), spots.of_class(static_cast<InstructionClass>(i)));
  }
  json.end_object();
}

void write_sites(JsonWriter& json, const SymbolTable& symbols, const ShortList& sites) {
  json.begin_array("touched_by");
  for (const auto& [key, count] : sites.shown) {
    const Named code = named_code(symbols, key);
    json.begin_object();
    json.text("ea", fmt::format("0x{:016x}", code.address));
    write_symbol(json, code.symbol);
    json.number("accesses", count);
    json.end_object();
  }
  json.end_array();
  write_others(json, "touched_by_others", "accesses", sites);
}

void write_objects(JsonWriter& json, const SymbolTable& symbols, const ShortList& objects) {
  json.begin_array("objects");
  for (const auto& [key, count] : objects.shown) {
    json.begin_object();
    write_symbol(json, key == HotData::kNoObject ? "" : named_object(symbols, key).symbol);
    json.number("accesses", count);
    json.end_object();
  }
  json.end_array();
  write_others(json, "other_objects", "accesses", objects);
}

void write_data(JsonWriter& json, const HotSpotsReport& report, size_t place) {
  const HotSpots& spots = report.spots;
  const HotTable<HotData>& table = spots.data().at(place);
  json.begin_object();
  json.text("address", key_name(spots.wishes().key));
  json.number("unit_bytes", spots.wishes().units.at(place));
  json.number("error", table.error());
  json.begin_array("top");
  for (const auto& [key, hot] : table.top(report.top)) {
    json.begin_object();
    json.text("address", fmt::format("0x{:016x}", key));
    json.number("accesses", hot.count);
    json.number("loads", hot.loads);
    json.number("stores", hot.stores);
    json.number("atomics", hot.atomics);
    if (hot.lowest_ea == HotData::kNoAddress) {
      json.null("ea");
    } else {
      json.text("ea", effective_text(hot, "0x", ""));
    }
    write_symbol(json, symbol_or_nothing(spots.symbols(), hot.lowest_ea));
    write_sites(json, spots.symbols(), short_list(hot.sites, report.top));
    write_objects(json, spots.symbols(), short_list(hot.objects, report.top));
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

}  // namespace

std::vector<std::pair<std::string, ProcessWork>> process_rows(const HotSpots& spots) {
  using Row = std::pair<std::string, ProcessWork>;
  std::vector<Row> rows(spots.processes().begin(), spots.processes().end());
  std::erase_if(rows, [](const Row& row) { return row.second.count == 0; });
  std::ranges::stable_sort(rows, std::greater<>(), [](const Row& row) { return row.second.count; });
  return rows;
}

std::string sites_text(const SymbolTable& symbols, const HotData& data, size_t most) {
  return list_text(short_list(data.sites, most),
                   [&](uint64_t key) { return named_code(symbols, key).text(); });
}

std::string effective_text(const HotData& hot, const char* prefix, const char* nothing) {
  if (hot.lowest_ea == HotData::kNoAddress) return nothing;
  return fmt::format("{}{:016x}", prefix, owned::plain(hot.lowest_ea));
}

std::string objects_text(const SymbolTable& symbols, const HotData& data, size_t most) {
  const ShortList list = short_list(data.objects, most);
  const bool is_one = list.shown.size() == 1 && list.others == 0;
  if (is_one || list.shown.empty()) return symbol_or_nothing(symbols, data.lowest_ea);
  return list_text(list, [&](uint64_t key) {
    return key == HotData::kNoObject ? "(no name)" : named_object(symbols, key).text();
  });
}

std::string HotSpotsReport::basis() const {
  std::string text = fmt::format("{}: {}\n{} and {} reported\n", counted(traces, "trace"),
                                 describe(totals), counted(spots.instructions(), "instruction"),
                                 counted(spots.data_accesses(), "data access"));
  const auto out = std::back_inserter(text);
  if (spots.data_without_address() != 0) {
    fmt::format_to(out, "not in a table: {} ({:.2f}%) without a known {} address\n",
                   counted(spots.data_without_address(), "data access"),
                   percent(spots.data_without_address(), spots.data_accesses()),
                   key_name(spots.wishes().key));
  }
  if (spots.code_without_address() != 0) {
    fmt::format_to(out, "not in a table: {} without a known address\n",
                   counted(spots.code_without_address(), "instruction"));
  }
  return text;
}

std::string HotSpotsReport::to_text() const {
  std::string text = basis();
  text += mix_text("instructions by privilege", kPrivilegeNames, spots.instructions(),
                   [&](size_t i) { return spots.of_privilege(static_cast<Privilege>(i)); });
  text += mix_text("instructions by kind", kInstructionClassNames, spots.instructions(),
                   [&](size_t i) { return spots.of_class(static_cast<InstructionClass>(i)); });
  if (spots.wants_processes()) text += processes_text(spots);
  if (spots.owners().known()) text += owners_text(spots);
  for (size_t i = 0; i < spots.data().size(); i++) text += data_text(*this, i);
  return text + code_text(*this) + walks_text(spots);
}

std::string HotSpotsReport::to_json() const {
  JsonWriter json;
  json.begin_object();
  write_basis(json, "htmtrace-report", totals, traces);
  json.number("instructions", spots.instructions());
  json.number("data_accesses", spots.data_accesses());
  json.number("data_without_address", spots.data_without_address());
  json.number("code_without_address", spots.code_without_address());
  write_mix(json, spots);
  if (spots.wants_processes()) write_processes(json, spots);
  if (spots.owners().known()) write_owners(json, spots);
  write_walks(json, spots);
  json.begin_array("data");
  for (size_t i = 0; i < spots.data().size(); i++) write_data(json, *this, i);
  json.end_array();
  json.begin_object("code");
  json.number("error", spots.code().error());
  json.begin_array("top");
  for (const auto& [key, hot] : spots.code().top(top)) {
    json.begin_object();
    const Named code = named_code(spots.symbols(), key);
    json.text("ea", fmt::format("0x{:016x}", code.address));
    write_symbol(json, code.symbol);
    json.number("instructions", hot.count);
    json.number("data_accesses", hot.data);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  json.end_object();
  return json.take();
}

std::string HotSpotsReport::to_csv() const {
  std::string text =
      "table,unit_bytes,count,error,loads,stores,atomics,data_accesses,address,ea,symbol,"
      "touched_by\n";
  const auto out = std::back_inserter(text);
  text += mix_csv("privilege", kPrivilegeNames,
                  [&](size_t i) { return spots.of_privilege(static_cast<Privilege>(i)); });
  text += mix_csv("kind", kInstructionClassNames,
                  [&](size_t i) { return spots.of_class(static_cast<InstructionClass>(i)); });
  for (size_t i = 0; i < spots.data().size(); i++) {
    const HotTable<HotData>& table = spots.data().at(i);
    for (const auto& [key, hot] : table.top(top)) {
      fmt::format_to(
          out, "data-{},{},{},{},{},{},{},,0x{:016x},{},{},{}\n", key_name(spots.wishes().key),
          spots.wishes().units.at(i), hot.count, table.error(), hot.loads, hot.stores, hot.atomics,
          key, effective_text(hot, "0x", ""), csv_field(objects_text(spots.symbols(), hot, top)),
          csv_field(sites_text(spots.symbols(), hot, top)));
    }
  }
  for (const auto& [key, hot] : spots.code().top(top)) {
    const Named code = named_code(spots.symbols(), key);
    fmt::format_to(out, "code,,{},{},,,,{},,0x{:016x},{},\n", hot.count, spots.code().error(),
                   hot.data, code.address, csv_field(code.symbol));
  }
  if (spots.wants_processes()) {
    for (const auto& [name, work] : process_rows(spots)) {
      fmt::format_to(out, "process,,{},0,,,,{},,,{},\n", work.count, work.data, csv_field(name));
    }
  }
  if (!spots.owners().known()) return text + walks_csv(spots);
  for (const auto& [owner, work] : spots.owners().rows()) {
    fmt::format_to(out, "partition,,{},0,,,,{},{},,,\n", work.count, work.data, owner_name(owner));
  }
  return text + walks_csv(spots);
}

}  // namespace htmtrace

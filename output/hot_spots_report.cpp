// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/hot_spots_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "output/csv_printer.h"
#include "output/json_writer.h"
#include "output/percent.h"
#include "output/size_name.h"

namespace htmtrace {
namespace {

// The name of a place, or its address.
std::string place_name(const SymbolTable& symbols, uint64_t address) {
  const SymbolTable::Symbol* symbol = symbols.find({address});
  return symbol == nullptr ? fmt::format("{:016x}", address) : symbol_text(*symbol, address);
}

std::string symbol_or_nothing(const SymbolTable& symbols, uint64_t address) {
  return symbols.find({address}) == nullptr ? "" : place_name(symbols, address);
}

std::vector<CodeSite> sites_of(const HotData& data) {
  std::vector<CodeSite> sites;
  for (const CodeSite& site : data.sites) {
    if (site.count != 0) sites.push_back(site);
  }
  std::sort(sites.begin(), sites.end(), [](const CodeSite& a, const CodeSite& b) {
    return a.count != b.count ? a.count > b.count : a.begin < b.begin;
  });
  return sites;
}

std::string sites_text(const SymbolTable& symbols, const HotData& data) {
  std::string text;
  for (const CodeSite& site : sites_of(data)) {
    text += fmt::format(" {}({})", place_name(symbols, site.begin), site.count);
  }
  return text;
}

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

template <class Table>
std::string table_remark(const Table& table) {
  if (table.error() == 0) return "";
  return fmt::format(" (constant memory: counts may be too small by at most {})", table.error());
}

std::string data_text(const HotSpotsReport& report, size_t place) {
  const HotSpots& spots = report.spots;
  const HotTable<HotData>& table = spots.data().at(place);
  std::string text =
      fmt::format("\nhot data by {} address, units of {}{}\n", key_name(spots.wishes().key),
                  size_name(spots.wishes().units.at(place)), table_remark(table));
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "{:>14} {:>7} {:>12} {:>12} {:>9}  {:<16}  {:<16}  {}\n", "accesses", "share",
                 "loads", "stores", "atomics", "address", "effective", "touched by");
  for (const auto& [key, hot] : table.top(report.top)) {
    fmt::format_to(out, "{:>14} {:>6.2f}% {:>12} {:>12} {:>9}  {:016x}  {:016x} {}", hot.count,
                   percent(hot.count, spots.data_accesses()), hot.loads, hot.stores, hot.atomics,
                   key, hot.lowest_ea, sites_text(spots.symbols(), hot));
    const std::string symbol = symbol_or_nothing(spots.symbols(), hot.lowest_ea);
    fmt::format_to(out, "{}\n", symbol.empty() ? "" : "  in " + symbol);
  }
  return text;
}

std::string code_text(const HotSpotsReport& report) {
  const HotSpots& spots = report.spots;
  std::string text =
      fmt::format("\nhot code{}\n{:>14} {:>7} {:>14}  {:<16}  {}\n", table_remark(spots.code()),
                  "instructions", "share", "data accesses", "address", "function");
  for (const auto& [key, hot] : spots.code().top(report.top)) {
    fmt::format_to(std::back_inserter(text), "{:>14} {:>6.2f}% {:>14}  {:016x}  {}\n", hot.count,
                   percent(hot.count, spots.instructions()), hot.data, key,
                   symbol_or_nothing(spots.symbols(), key));
  }
  return text;
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

void write_symbol(JsonWriter& json, const SymbolTable& symbols, uint64_t address) {
  const std::string symbol = symbol_or_nothing(symbols, address);
  if (symbol.empty()) {
    json.null("symbol");
  } else {
    json.text("symbol", symbol);
  }
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
    json.text("ea", fmt::format("0x{:016x}", hot.lowest_ea));
    write_symbol(json, spots.symbols(), hot.lowest_ea);
    json.begin_array("touched_by");
    for (const CodeSite& site : sites_of(hot)) {
      json.begin_object();
      json.text("ea", fmt::format("0x{:016x}", site.begin));
      write_symbol(json, spots.symbols(), site.begin);
      json.number("at_least", site.count);
      json.end_object();
    }
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

}  // namespace

std::string HotSpotsReport::to_text() const {
  std::string text =
      fmt::format("{} traces: {}\n{} instructions and {} data accesses reported\n", traces,
                  describe(totals), spots.instructions(), spots.data_accesses());
  const auto out = std::back_inserter(text);
  if (spots.data_without_address() != 0) {
    fmt::format_to(out, "{} data accesses ({:.2f}%) without a known {} address are in no table\n",
                   spots.data_without_address(),
                   percent(spots.data_without_address(), spots.data_accesses()),
                   key_name(spots.wishes().key));
  }
  if (spots.code_without_address() != 0) {
    fmt::format_to(out, "{} instructions without a known address are in no table\n",
                   spots.code_without_address());
  }
  text += mix_text("instructions by privilege", kPrivilegeNames, spots.instructions(),
                   [&](size_t i) { return spots.of_privilege(static_cast<Privilege>(i)); });
  text += mix_text("instructions by kind", kInstructionClassNames, spots.instructions(),
                   [&](size_t i) { return spots.of_class(static_cast<InstructionClass>(i)); });
  for (size_t i = 0; i < spots.data().size(); i++) text += data_text(*this, i);
  return text + code_text(*this);
}

std::string HotSpotsReport::to_json() const {
  JsonWriter json;
  json.begin_object();
  json.text("format", "htmtrace-report");
  json.number("version", uint64_t{1});
  json.number("traces", uint64_t{traces});
  json.begin_object("decoded");
  json.number("bytes", totals.bytes);
  json.number("instructions", totals.instructions);
  json.number("losses", totals.losses);
  json.number("defects", totals.defects);
  json.end_object();
  json.number("instructions", spots.instructions());
  json.number("data_accesses", spots.data_accesses());
  json.number("data_without_address", spots.data_without_address());
  json.number("code_without_address", spots.code_without_address());
  write_mix(json, spots);
  json.begin_array("data");
  for (size_t i = 0; i < spots.data().size(); i++) write_data(json, *this, i);
  json.end_array();
  json.begin_object("code");
  json.number("error", spots.code().error());
  json.begin_array("top");
  for (const auto& [key, hot] : spots.code().top(top)) {
    json.begin_object();
    json.text("ea", fmt::format("0x{:016x}", key));
    write_symbol(json, spots.symbols(), key);
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
  for (size_t i = 0; i < spots.data().size(); i++) {
    const HotTable<HotData>& table = spots.data().at(i);
    for (const auto& [key, hot] : table.top(top)) {
      std::string sites = sites_text(spots.symbols(), hot);
      if (!sites.empty()) sites.erase(0, 1);
      fmt::format_to(out, "data-{},{},{},{},{},{},{},,0x{:016x},0x{:016x},{},{}\n",
                     key_name(spots.wishes().key), spots.wishes().units.at(i), hot.count,
                     table.error(), hot.loads, hot.stores, hot.atomics, key, hot.lowest_ea,
                     csv_field(symbol_or_nothing(spots.symbols(), hot.lowest_ea)),
                     csv_field(sites));
    }
  }
  for (const auto& [key, hot] : spots.code().top(top)) {
    fmt::format_to(out, "code,,{},{},,,,{},,0x{:016x},{},\n", hot.count, spots.code().error(),
                   hot.data, key, csv_field(symbol_or_nothing(spots.symbols(), key)));
  }
  return text;
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
// Parts that the reports on traces share.
#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/symbol_table.h"
#include "core/base/counted.h"
#include "core/base/counts.h"
#include "core/memory_map/owners.h"
#include "output/io/json_writer.h"
#include "output/report/decode_report.h"

namespace htmtrace {

// Returns the symbol of an address with its owner (core/analysis/symbol_table.h), or an empty text.
inline std::string symbol_or_nothing(const SymbolTable& symbols, uint64_t address) {
  const SymbolTable::Symbol* symbol = symbols.find({address});
  return symbol == nullptr ? "" : symbol_text(*symbol, address);
}

// Names an address range by the object that holds both ends, or by the names of both ends.
inline std::string range_name(const SymbolTable& symbols, uint64_t first, uint64_t last) {
  const SymbolTable::Symbol* const begin = symbols.find({first});
  std::string text = symbol_or_nothing(symbols, first);
  if (begin == symbols.find({last})) return text;
  const std::string end = symbol_or_nothing(symbols, last);
  return fmt::format("{} .. {}", text.empty() ? "(no name)" : text,
                     end.empty() ? "(no name)" : end);
}

inline std::string code_symbol_or_nothing(const SymbolTable& symbols, uint64_t address) {
  const SymbolTable::Symbol* symbol = symbols.find_code({address});
  return symbol == nullptr ? "" : symbol_text(*symbol, address);
}

// Names a function, a line of code or an object by its key (core/analysis/hot_spots.h).
struct Named {
  uint64_t address = 0;
  std::string symbol;  // empty if unknown
  std::string text() const { return symbol.empty() ? fmt::format("{:016x}", address) : symbol; }
};

inline Named named(const SymbolTable::Symbol* symbol, uint64_t key) {
  if (symbol == nullptr) return {.address = owned::plain(key), .symbol = {}};
  return {.address = symbol->address,
          .symbol = symbol->name + (owned::is_unproven(key) ? "?" : "")};
}

inline Named named_code(const SymbolTable& symbols, uint64_t key) {
  return named(symbols.find_code({key}), key);
}

inline Named named_object(const SymbolTable& symbols, uint64_t key) {
  return named(symbols.find({key}), key);
}

// The first values of a list, and the counts of the other values.
struct ShortList {
  std::vector<Counts::Place> shown;
  uint64_t other_values = 0;
  uint64_t others = 0;       // occurrences of other values
  bool more_values = false;  // a list was full, so the number of other values is a lower bound
};

template <class List>
ShortList short_list(const List& counts, size_t most) {
  ShortList list{.shown = counts.sorted(), .others = counts.others()};
  list.more_values = list.others != 0;
  if (list.shown.size() > most) {
    for (size_t i = most; i < list.shown.size(); i++) list.others += list.shown[i].count;
    list.other_values = list.shown.size() - most;
    list.shown.resize(most);
  }
  return list;
}

inline constexpr size_t kShownInText = 4;

// Returns a text such as "a(10) b(7) and 3 others(9)".
template <class Name>
std::string list_text(const ShortList& list, const Name& name) {
  std::string text;
  for (const Counts::Place& place : list.shown) {
    text += fmt::format("{}{}({})", text.empty() ? "" : " ", name(place.value), place.count);
  }
  if (list.others == 0) return text;
  return text +
         fmt::format("{}and {}{}({})", text.empty() ? "" : " ", list.more_values ? "at least " : "",
                     counted(list.other_values + (list.more_values ? 1 : 0), "other"), list.others);
}

// Writes the counts of the values that the preceding array omits. `count` is the key of the counts.
inline void write_others(JsonWriter& json, std::string_view key, std::string_view count,
                         const ShortList& list) {
  json.begin_object(key);
  json.number("values", list.other_values + (list.more_values ? 1 : 0));
  json.boolean("more_values", list.more_values);
  json.number(count, list.others);
  json.end_object();
}

template <class Table>
std::string table_remark(const Table& table) {
  if (table.error() == 0) return "";
  return fmt::format(" (constant memory: counts may be too small by at most {})", table.error());
}

inline void write_symbol(JsonWriter& json, const std::string& symbol) {
  if (symbol.empty()) {
    json.null("symbol");
  } else {
    json.text("symbol", symbol);
  }
}

// A key of an OwnerTable: the LP index of a partition.
inline std::string owner_name(uint64_t owner) {
  if (owner == MemoryOwners::kNobody) return "none";
  return owner == MemoryOwners::kUnknown ? "unknown" : fmt::format("{}", owner);
}

// Writes the basis of a report, with which each report begins.
inline void write_basis(JsonWriter& json, std::string_view format, const DecodeTotals& totals,
                        size_t traces) {
  json.text("format", format);
  json.number("version", uint64_t{1});
  json.number("traces", uint64_t{traces});
  json.begin_object("decoded");
  json.number("bytes", totals.bytes);
  json.number("instructions", totals.instructions);
  json.number("commands", totals.commands);
  json.number("losses", totals.losses);
  json.number("defects", totals.defects);
  if (totals.selected) json.number("selected", *totals.selected);
  json.end_object();
}

}  // namespace htmtrace

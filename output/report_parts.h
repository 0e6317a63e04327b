// SPDX-License-Identifier: GPL-2.0-or-later
// What reports on traces have in common.
#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/memory_owners.h"
#include "core/symbol_table.h"
#include "output/decode_report.h"
#include "output/json_writer.h"

namespace htmtrace {

// The name of a place, or its address.
inline std::string place_name(const SymbolTable& symbols, uint64_t address) {
  const SymbolTable::Symbol* symbol = symbols.find({address});
  return symbol == nullptr ? fmt::format("{:016x}", address) : symbol_text(*symbol, address);
}

inline std::string symbol_or_nothing(const SymbolTable& symbols, uint64_t address) {
  return symbols.find({address}) == nullptr ? "" : place_name(symbols, address);
}

template <class Table>
std::string table_remark(const Table& table) {
  if (table.error() == 0) return "";
  return fmt::format(" (constant memory: counts may be too small by at most {})", table.error());
}

inline void write_symbol(JsonWriter& json, const SymbolTable& symbols, uint64_t address) {
  const std::string symbol = symbol_or_nothing(symbols, address);
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

// What a report rests on, with which each begins.
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
  json.end_object();
}

}  // namespace htmtrace

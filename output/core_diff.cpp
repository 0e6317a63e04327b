// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/core_diff.h"

#include <fmt/core.h>

#include <string>

#include "output/size_name.h"

namespace htmtrace {
namespace {

template <class Names, class Count>
DiffCounts mix_of(const HotSpots& spots, const Names& names, const Count& count) {
  DiffCounts counts{.whole = spots.instructions(), .error = 0, .parts = {}};
  for (size_t i = 0; i < names.size(); i++) {
    counts.parts.push_back(
        {.name = std::string(names.at(i)), .address = {}, .symbol = {}, .count = count(i)});
  }
  return counts;
}

DiffCounts privileges_of(const HotSpots& spots) {
  return mix_of(spots, kPrivilegeNames,
                [&](size_t i) { return spots.of_privilege(static_cast<Privilege>(i)); });
}

DiffCounts classes_of(const HotSpots& spots) {
  return mix_of(spots, kInstructionClassNames,
                [&](size_t i) { return spots.of_class(static_cast<InstructionClass>(i)); });
}

DiffCounts code_of(const HotSpots& spots) {
  DiffCounts counts{.whole = spots.instructions(), .error = spots.code().error(), .parts = {}};
  for (const auto& [key, hot] : spots.code().entries()) {
    const SymbolTable::Symbol* symbol = spots.symbols().find({key});
    counts.parts.push_back({.name = symbol != nullptr ? symbol->name : fmt::format("{:016x}", key),
                            .address = key,
                            .symbol = {},
                            .count = hot.count});
  }
  return counts;
}

DiffCounts data_of(const HotSpots& spots, size_t unit) {
  const HotTable<HotData>& table = spots.data().at(unit);
  DiffCounts counts{.whole = spots.data_accesses(), .error = table.error(), .parts = {}};
  for (const auto& [key, hot] : table.entries()) {
    const SymbolTable::Symbol* symbol = spots.symbols().find({hot.lowest_ea});
    counts.parts.push_back({.name = fmt::format("{:016x}", key),
                            .address = key,
                            .symbol = symbol != nullptr ? symbol_text(*symbol, hot.lowest_ea) : "",
                            .count = hot.count});
  }
  return counts;
}

}  // namespace

std::vector<DiffTable> compare_cores(const HotSpots& before, const HotSpots& after) {
  std::vector<DiffTable> tables;
  tables.push_back(compare({"privilege", "instructions by privilege"}, privileges_of(before),
                           privileges_of(after)));
  tables.push_back(
      compare({"kind", "instructions by kind"}, classes_of(before), classes_of(after)));
  tables.push_back(compare({"code", "instructions by function, or by line of 128 bytes"},
                           code_of(before), code_of(after)));
  for (size_t i = 0; i < before.wishes().units.size(); i++) {
    const uint64_t unit = before.wishes().units[i];
    tables.push_back(compare({.key = "data",
                              .title = fmt::format("data accesses by {} address, units of {}",
                                                   key_name(before.wishes().key), size_name(unit)),
                              .unit_bytes = unit},
                             data_of(before, i), data_of(after, i)));
  }
  return tables;
}

}  // namespace htmtrace

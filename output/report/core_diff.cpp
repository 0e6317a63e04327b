// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/report/core_diff.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/size_text.h"
#include "output/report/parts.h"

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
  spots.code().visit([&](uint64_t key, const HotCode& hot) {
    const Named code = named_code(spots.symbols(), key);
    counts.parts.push_back(
        {.name = code.text(), .address = code.address, .symbol = {}, .count = hot.count});
  });
  return counts;
}

// Accesses to an object in one unit, joined by the object's name and the unit's offset.
DiffPart part_of_object(const SymbolTable& symbols, const HotData& hot, uint64_t unit_bytes,
                        const Counts::Place& object) {
  const SymbolTable::Symbol* const symbol = symbols.find({object.value});
  if (symbol == nullptr) return {};
  const uint64_t unit = owned::plain(hot.lowest_ea) & ~(unit_bytes - 1);
  const uint64_t address = std::max(unit, symbol->address);
  const bool is_here = address - symbol->address < symbol->size_bytes;
  const uint64_t owner = object.value - owned::plain(object.value);
  return {.name = symbol_text(*symbol, (is_here ? address : symbol->address) + owner),
          .address = is_here ? address : symbol->address,
          .symbol = {},
          .count = object.count};
}

// Accesses without a symbol, joined by mapping, because the address differs from run to run.
DiffPart part_without_name(const MappingNames& mappings, const HotData& hot, uint64_t key,
                           uint64_t count) {
  std::string name = mappings.name(owned::plain(hot.lowest_ea));
  if (!name.empty()) {
    return {.name = std::move(name), .address = {}, .symbol = {}, .count = count};
  }
  return {.name = fmt::format("{:016x}", key), .address = key, .symbol = {}, .count = count};
}

DiffCounts data_of(const CoreDiffSide& side, size_t unit) {
  const HotSpots& spots = side.spots;
  const HotTable<HotData>& table = spots.data().at(unit);
  const uint64_t unit_bytes = spots.wishes().units.at(unit);
  DiffCounts counts{.whole = spots.data_accesses(), .error = table.error(), .parts = {}};
  table.visit([&](uint64_t key, const HotData& hot) {
    uint64_t named_count = 0;
    for (const Counts::Place& object : hot.objects.sorted()) {
      if (object.value == HotData::kNoObject) continue;
      counts.parts.push_back(part_of_object(spots.symbols(), hot, unit_bytes, object));
      named_count += object.count;
    }
    if (named_count < hot.count) {
      counts.parts.push_back(part_without_name(side.mappings, hot, key, hot.count - named_count));
    }
  });
  return counts;
}

}  // namespace

std::vector<DiffTable> compare_cores(const CoreDiffSide& before_side,
                                     const CoreDiffSide& after_side) {
  const HotSpots& before = before_side.spots;
  const HotSpots& after = after_side.spots;
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
                                                   key_name(before.wishes().key), exact_size(unit)),
                              .unit_bytes = unit},
                             data_of(before_side, i), data_of(after_side, i)));
  }
  return tables;
}

}  // namespace htmtrace

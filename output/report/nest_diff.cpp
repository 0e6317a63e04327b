// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/report/nest_diff.h"

#include <fmt/core.h>

#include <string>

#include "core/base/size_text.h"
#include "output/report/nest_hot_report.h"

namespace htmtrace {
namespace {

DiffCounts named(const nest::Profile& profile, const HotTable<nest::Tally>& table,
                 std::string (*name)(nest::Layout, uint32_t)) {
  DiffCounts counts{.whole = profile.commands(), .error = table.error(), .parts = {}};
  for (const auto& [key, tally] : table.entries()) {
    counts.parts.push_back({.name = name(profile.spots().layout(), static_cast<uint32_t>(key)),
                            .address = {},
                            .symbol = {},
                            .count = tally.count});
  }
  return counts;
}

DiffCounts addresses(const NestDiffSide& side, size_t unit) {
  const nest::HotSpots& spots = side.profile.spots();
  const HotTable<nest::HotAddress>& table = spots.tables().at(unit);
  DiffCounts counts{.whole = spots.commands(), .error = table.error(), .parts = {}};
  for (const auto& [key, hot] : table.entries()) {
    counts.parts.push_back({.name = fmt::format("{:016x}", key),
                            .address = key,
                            .symbol = nest_address_name(side.names, hot),
                            .count = hot.count});
  }
  return counts;
}

}  // namespace

std::vector<DiffTable> compare_nests(const NestDiffSide& before_side,
                                     const NestDiffSide& after_side) {
  const nest::Profile& before = before_side.profile;
  const nest::Profile& after = after_side.profile;
  std::vector<DiffTable> tables;
  tables.push_back(compare({"command", "commands by name"},
                           named(before, before.by_command(), nest_command_name),
                           named(after, after.by_command(), nest_command_name)));
  tables.push_back(compare({"from", "commands by the unit that sent them"},
                           named(before, before.by_source(), nest_source_name),
                           named(after, after.by_source(), nest_source_name)));
  const nest::HotSpots::Wishes& wishes = before.spots().wishes();
  for (size_t i = 0; i < wishes.units.size(); i++) {
    tables.push_back(compare(
        {.key = "address",
         .title = fmt::format("commands with an address by {} address, units of {}",
                              wishes.logical ? "logical" : "real", exact_size(wishes.units[i])),
         .unit_bytes = wishes.units[i]},
        addresses(before_side, i), addresses(after_side, i)));
  }
  return tables;
}

}  // namespace htmtrace

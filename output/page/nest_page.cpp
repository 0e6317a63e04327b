// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/page/nest_page.h"

#include <fmt/core.h>

#include "core/base/size_text.h"
#include "output/page/core_page.h"
#include "output/page/html_table.h"
#include "output/report/parts.h"

namespace htmtrace {
namespace {

using Kind = HtmlTable::Kind;

constexpr size_t kSources = 12;  // values of a short list

void add_addresses(HtmlPage& page, const NestHotReport& hot, size_t place) {
  const nest::HotSpots& spots = hot.spots;
  const HotTable<nest::HotAddress>& addresses = spots.tables().at(place);
  const std::string unit = exact_size(spots.wishes().units.at(place));
  HtmlTable table(
      fmt::format("hot {} addresses on the bus, units of {}{}",
                  spots.wishes().logical ? "logical" : "real", unit, table_remark(addresses)),
      {{"commands", Kind::kNumber},
       {"share", Kind::kNumber},
       {"retries", Kind::kNumber},
       {"address", Kind::kCode},
       {"data", Kind::kCode},
       {"from", Kind::kCode},
       {"by", Kind::kCode}});
  for (const auto& [key, row] : addresses.top(hot.top)) {
    table.line({std::to_string(row.count), percent_text(row.count, spots.commands()),
                std::to_string(row.retries), fmt::format("{:016x}", key),
                nest_address_name(hot.names, row), nest_sources_text(spots, row, kSources),
                nest_commands_text(spots, row, kSources)});
  }
  page.section("Addresses, " + unit, table.take_first_of(addresses.size()));
}

void add_partitions(HtmlPage& page, const nest::HotSpots& spots) {
  HtmlTable table("commands with an address by the partition that owns the memory",
                  {{"commands", Kind::kNumber},
                   {"share", Kind::kNumber},
                   {"retries", Kind::kNumber},
                   {"partition", Kind::kText},
                   {"from", Kind::kCode},
                   {"by", Kind::kCode}});
  for (const auto& [owner, hot] : spots.owners().rows()) {
    table.line({std::to_string(hot.count), percent_text(hot.count, spots.commands()),
                std::to_string(hot.retries), owner_name(owner),
                nest_sources_text(spots, hot, kSources), nest_commands_text(spots, hot, kSources)});
  }
  page.section("Partitions", table.take());
}

}  // namespace

std::string NestPage::to_html() const {
  HtmlPage page(head);
  page.basis(hot.basis());
  for (size_t i = 0; i < hot.spots.tables().size(); i++) add_addresses(page, hot, i);
  add_heat_map(page, heat);
  page.section("Commands by chip", fixed_text(hot.chips_text()));
  if (hot.spots.owners().known()) add_partitions(page, hot.spots);
  return page.take();
}

}  // namespace htmtrace

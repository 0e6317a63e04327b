// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/report/nest_hot_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <vector>

#include "core/base/counted.h"
#include "core/nest_trace/units.h"
#include "output/io/csv_field.h"
#include "output/io/json_writer.h"
#include "output/io/percent.h"
#include "output/report/parts.h"

namespace htmtrace {
namespace {

using nest::HotAddress;

template <class List>
std::string text_of(const nest::HotSpots& spots, const List& counts,
                    std::string (*name)(nest::Layout, uint32_t), size_t most) {
  return list_text(short_list(counts, most), [&](uint64_t value) {
    return name(spots.layout(), static_cast<uint32_t>(value));
  });
}

const char* kind(const nest::HotSpots& spots) {
  return spots.wishes().logical ? "logical" : "real";
}

void write_counts(JsonWriter& json, const std::string& key, const nest::HotSpots& spots,
                  const ShortList& list, std::string (*name)(nest::Layout, uint32_t)) {
  json.begin_array(key);
  for (const Counts::Place& place : list.shown) {
    json.begin_object();
    json.text("name", name(spots.layout(), static_cast<uint32_t>(place.value)));
    json.number("commands", place.count);
    json.end_object();
  }
  json.end_array();
  write_others(json, key + "_others", "commands", list);
}

std::string chip_name(size_t chip) {
  return fmt::format("g{}.c{}", chip >> 4, chip & 15);
}

// Chips that sent a command on any traced bus.
std::vector<size_t> asking_chips(const nest::HotSpots& spots) {
  std::vector<size_t> asking;
  for (size_t chip = 0; chip < nest::TracedBus::kChips; chip++) {
    const auto seen = [chip](const nest::TracedBus& bus) { return bus.chips[chip] != 0; };
    if (std::any_of(spots.traces().begin(), spots.traces().end(), seen)) asking.push_back(chip);
  }
  return asking;
}

// Describes the common origin of the commands that are counted together.
std::string whence(const nest::HotSpots& spots, const HotAddress& hot) {
  return fmt::format("{}; {}", nest_sources_text(spots, hot, kShownInText),
                     nest_commands_text(spots, hot, kShownInText));
}

void put_owners(std::string& text, const nest::HotSpots& spots) {
  const auto out = std::back_inserter(text);
  fmt::format_to(out,
                 "\ncommands with an address by the partition that owns the memory\n{:>14} {:>7} "
                 "{:>10}  {:<16}  {}\n",
                 "commands", "share", "retries", "partition", "from; by");
  for (const auto& [owner, hot] : spots.owners().rows()) {
    fmt::format_to(out, "{:>14} {:>6.2f}% {:>10}  {:<16}  {}\n", hot.count,
                   percent(hot.count, spots.commands()), hot.retries, owner_name(owner),
                   whence(spots, hot));
  }
}

void write_whence(JsonWriter& json, const nest::HotSpots& spots, const HotAddress& hot,
                  size_t top) {
  write_counts(json, "from", spots, short_list(hot.sources, top), nest_source_name);
  write_counts(json, "by", spots, short_list(hot.commands, top), nest_command_name);
}

void write_owners(JsonWriter& json, const nest::HotSpots& spots, size_t top) {
  json.begin_array("partitions");
  for (const auto& [owner, hot] : spots.owners().rows()) {
    json.begin_object();
    json.text("partition", owner_name(owner));
    json.number("commands", hot.count);
    json.number("retries", hot.retries);
    write_whence(json, spots, hot, top);
    json.end_object();
  }
  json.end_array();
}

void write_name(JsonWriter& json, const PageNames& names, const HotAddress& hot) {
  const std::string name = nest_address_name(names, hot);
  if (name.empty()) {
    json.null("symbol");
  } else {
    json.text("symbol", name);
  }
}

void write_chips(JsonWriter& json, const nest::HotSpots& spots) {
  json.begin_array("buses");
  for (const nest::TracedBus& bus : spots.traces()) {
    json.begin_object();
    json.text("trace", bus.name);
    json.begin_array("from");
    for (const size_t chip : asking_chips(spots)) {
      json.begin_object();
      json.text("chip", chip_name(chip));
      json.number("commands", bus.chips[chip]);
      json.end_object();
    }
    json.end_array();
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string nest_source_name(nest::Layout layout, uint32_t key) {
  const nest::Tag tag = nest::source_of(key);
  return fmt::format("g{}.c{}.{}:{:03x}", tag.group, tag.chip, nest::unit_name(layout, tag.unit),
                     tag.unit);
}

std::string nest_command_name(nest::Layout layout, uint32_t kind) {
  if ((kind & nest::kNamedKind) == 0) return fmt::format("{:04x}", kind);
  return std::string(nest::names_of(layout).rows()[kind - nest::kNamedKind].name);
}

std::string nest_address_name(const PageNames& names, const HotAddress& hot) {
  return hot.lowest_la == HotAddress::kNoAddress ? "" : names.name({hot.lowest_la});
}

std::string nest_sources_text(const nest::HotSpots& spots, const HotAddress& hot, size_t most) {
  return text_of(spots, hot.sources, nest_source_name, most);
}

std::string nest_commands_text(const nest::HotSpots& spots, const HotAddress& hot, size_t most) {
  return text_of(spots, hot.commands, nest_command_name, most);
}

std::string NestHotReport::basis() const {
  std::string text =
      fmt::format("bus: {}\n{}\n{} reported\nwith an address: {} ({:.2f}%)\n", describe(totals),
                  evidence, counted(spots.all_commands(), "command"), spots.commands(),
                  percent(spots.commands(), spots.all_commands()));
  const auto out = std::back_inserter(text);
  if (spots.without_address() != 0) {
    fmt::format_to(out, "without a known {} address, so in no address table: {} ({:.2f}%)\n",
                   kind(spots), spots.without_address(),
                   percent(spots.without_address(), spots.commands()));
  }
  return text + describe(names);
}

// A row for each chip that sends commands, and a column for each bus.
std::string NestHotReport::chips_text() const {
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "all commands by requesting chip, on the bus of each trace\n{:<8}", "from");
  for (const nest::TracedBus& bus : spots.traces()) fmt::format_to(out, " {:>21}", bus.name);
  text += '\n';
  for (const size_t chip : asking_chips(spots)) {
    fmt::format_to(out, "{:<8}", chip_name(chip));
    for (const nest::TracedBus& bus : spots.traces()) {
      const uint64_t all = std::accumulate(bus.chips.begin(), bus.chips.end(), uint64_t{0});
      fmt::format_to(out, " {:>13} {:>6.2f}%", bus.chips[chip], percent(bus.chips[chip], all));
    }
    text += '\n';
  }
  return text;
}

std::string NestHotReport::to_text() const {
  std::string text = basis() + "\n" + chips_text();
  const auto out = std::back_inserter(text);
  if (spots.owners().known()) put_owners(text, spots);
  for (size_t i = 0; i < spots.tables().size(); i++) {
    const HotTable<HotAddress>& table = spots.tables().at(i);
    fmt::format_to(out, "\nhot {} addresses on the bus, units of {} bytes", kind(spots),
                   spots.wishes().units.at(i));
    if (table.error() != 0) {
      fmt::format_to(out, " (constant memory: counts may be too small by at most {})",
                     table.error());
    }
    fmt::format_to(out, "\n{:>14} {:>7} {:>10}  {:<16}  {}\n", "commands", "share", "retries",
                   "address", "from; by");
    for (const auto& [key, hot] : table.top(top)) {
      const std::string name = nest_address_name(names, hot);
      fmt::format_to(out, "{:>14} {:>6.2f}% {:>10}  {:016x}  {}{}{}\n", hot.count,
                     percent(hot.count, spots.commands()), hot.retries, key, whence(spots, hot),
                     name.empty() ? "" : "  in ", name);
    }
  }
  return text;
}

std::string NestHotReport::to_json() const {
  JsonWriter json;
  json.begin_object();
  write_basis(json, "htmtrace-nest-report", totals, spots.traces().size());
  json.text("layout", evidence);
  json.number("all_commands", spots.all_commands());
  json.number("commands", spots.commands());
  json.number("without_address", spots.without_address());
  write_chips(json, spots);
  if (spots.owners().known()) write_owners(json, spots, top);
  json.begin_array("tables");
  for (size_t i = 0; i < spots.tables().size(); i++) {
    const HotTable<HotAddress>& table = spots.tables().at(i);
    json.begin_object();
    json.text("address", kind(spots));
    json.number("unit_bytes", spots.wishes().units.at(i));
    json.number("error", table.error());
    json.begin_array("top");
    for (const auto& [key, hot] : table.top(top)) {
      json.begin_object();
      json.text("address", fmt::format("0x{:016x}", key));
      json.number("commands", hot.count);
      json.number("retries", hot.retries);
      write_name(json, names, hot);
      write_whence(json, spots, hot, top);
      json.end_object();
    }
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.take();
}

std::string NestHotReport::to_csv() const {
  std::string text = "table,unit_bytes,count,error,retries,address,from,by,symbol\n";
  for (size_t i = 0; i < spots.tables().size(); i++) {
    const HotTable<HotAddress>& table = spots.tables().at(i);
    for (const auto& [key, hot] : table.top(top)) {
      fmt::format_to(std::back_inserter(text), "bus-{},{},{},{},{},0x{:016x},{},{},{}\n",
                     kind(spots), spots.wishes().units.at(i), hot.count, table.error(), hot.retries,
                     key, csv_field(nest_sources_text(spots, hot, top)),
                     csv_field(nest_commands_text(spots, hot, top)),
                     csv_field(nest_address_name(names, hot)));
    }
  }
  if (!spots.owners().known()) return text;
  for (const auto& [owner, hot] : spots.owners().rows()) {
    fmt::format_to(std::back_inserter(text), "bus-partition,,{},0,{},{},{},{},\n", hot.count,
                   hot.retries, owner_name(owner), csv_field(nest_sources_text(spots, hot, top)),
                   csv_field(nest_commands_text(spots, hot, top)));
  }
  return text;
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
// Prints walks through page tables as text and as JSON. htmtrace-decode(1), OUTPUT.
#include <fmt/core.h>

#include <iterator>

#include "core/core_trace/walk_statistics.h"
#include "output/io/json_writer.h"
#include "output/print/json_printer.h"
#include "output/print/text_printer.h"

namespace htmtrace {
namespace {

std::string_view page_name(uint8_t shift) {
  return kPageNames.at(page_place(shift));
}

// Prints the entries of the hypervisor's tables from the root. "~" marks entries from an earlier
// walk.
std::string entries_text(const WalkLeg& leg) {
  std::string text;
  for (unsigned level = 0; level < kTreeLevels; level++) {
    if (!leg.has_entry(level)) continue;
    const bool told = (leg.told >> level & 1) != 0;
    text +=
        fmt::format("{}{}{:x}", text.empty() ? "" : ",", told ? "" : "~", leg.entries.at(level));
  }
  return text;
}

std::string leg_text(const WalkLeg& leg) {
  std::string text = leg.has_guest ? fmt::format("{:x}", leg.guest) : "";
  fmt::format_to(std::back_inserter(text), "[{}]", entries_text(leg));
  if (leg.has_host) fmt::format_to(std::back_inserter(text), "{:x}", leg.host);
  return text;
}

std::string address_text(uint64_t address) {
  return fmt::format("0x{:016x}", address);
}

void write_leg(JsonWriter& json, std::string_view key, const WalkLeg& leg) {
  json.begin_object(key);
  if (leg.has_guest) json.text("guest", address_text(leg.guest));
  if (leg.has_host) json.text("host", address_text(leg.host));
  json.begin_array("entries");
  for (unsigned level = 0; level < kTreeLevels; level++) {
    if (!leg.has_entry(level)) continue;
    json.begin_object();
    json.text("level", kWalkLegNames.at(level + 1));
    json.text("ra", address_text(leg.entries.at(level)));
    json.boolean("told", (leg.told >> level & 1) != 0);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

}  // namespace

std::string walk_line(const Walk& walk) {
  std::string line =
      fmt::format("walk side={} use={} lpid={} pid={}", walk.data_side ? "data" : "instruction",
                  walk.use == WalkUse::kAccess ? "access" : "interrupted", walk.lpid, walk.pid);
  const auto out = std::back_inserter(line);
  if (walk.has_address) {
    fmt::format_to(out, " ea={:016x} ra={:016x}", walk.ea.value, walk.ra.value);
  } else {
    line += " ea=---------------- ra=----------------";
  }
  fmt::format_to(out, " guest_page={} host_page={} complete={}", page_name(walk.guest_shift),
                 page_name(walk.host_shift), walk.complete ? "yes" : "no");
  if (walk.has_partition) {
    fmt::format_to(out, " partition={}{:x}", walk.partition_told ? "" : "~", walk.partition);
  }
  for (unsigned i = 0; i < kWalkLegs; i++) {
    const WalkLeg& leg = walk.legs.at(i);
    if (!leg.there()) continue;
    fmt::format_to(out, " {}={}{}", kWalkLegNames.at(i), leg.from_memory ? "~" : "", leg_text(leg));
  }
  if (walk.exception) line += " exception";
  return line;
}

void JsonPrinter::walk(const Walk& walk) {
  JsonWriter json(JsonWriter::Layout::kCompact);
  json.continue_object();
  json.text("type", "walk");
  json.number("offset", walk.offset);
  json.text("side", walk.data_side ? "data" : "instruction");
  json.text("use", walk.use == WalkUse::kAccess ? "access" : "interrupted");
  json.number("lpid", walk.lpid);
  json.number("pid", walk.pid);
  json.boolean("complete", walk.complete);
  json.boolean("exception", walk.exception);
  if (walk.has_address) {
    json.text("ea", address_text(walk.ea.value));
    json.text("ra", address_text(walk.ra.value));
  }
  if (walk.guest_shift != 0) json.number("guest_page", uint64_t{1} << walk.guest_shift);
  if (walk.host_shift != 0) json.number("host_page", uint64_t{1} << walk.host_shift);
  if (walk.has_partition) json.text("partition", address_text(walk.partition));
  for (unsigned i = 0; i < kWalkLegs; i++) {
    if (walk.legs.at(i).there()) write_leg(json, kWalkLegNames.at(i), walk.legs.at(i));
  }
  json.end_object();
  output_.put(begin_ + json.take());
}

}  // namespace htmtrace

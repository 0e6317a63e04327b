// SPDX-License-Identifier: GPL-2.0-or-later
// Prints walks through page tables as text and as JSON. htmtrace-decode(1), OUTPUT.
#include <fmt/core.h>

#include <iterator>

#include "core/core_trace/walk_statistics.h"
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

std::string leg_object(const WalkLeg& leg) {
  std::string text = "{";
  const auto out = std::back_inserter(text);
  if (leg.has_guest) fmt::format_to(out, "\"guest\":\"0x{:016x}\",", leg.guest);
  if (leg.has_host) fmt::format_to(out, "\"host\":\"0x{:016x}\",", leg.host);
  text += "\"entries\":[";
  bool first = true;
  for (unsigned level = 0; level < kTreeLevels; level++) {
    if (!leg.has_entry(level)) continue;
    fmt::format_to(out, "{}{{\"level\":\"{}\",\"ra\":\"0x{:016x}\",\"told\":{}}}", first ? "" : ",",
                   kWalkLegNames.at(level + 1), leg.entries.at(level),
                   (leg.told >> level & 1) != 0);
    first = false;
  }
  return text + "]}";
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
  std::string line = begin_;
  const auto out = std::back_inserter(line);
  fmt::format_to(out,
                 ",\"type\":\"walk\",\"offset\":{},\"side\":\"{}\",\"use\":\"{}\",\"lpid\":{},"
                 "\"pid\":{},\"complete\":{},\"exception\":{}",
                 walk.offset, walk.data_side ? "data" : "instruction",
                 walk.use == WalkUse::kAccess ? "access" : "interrupted", walk.lpid, walk.pid,
                 walk.complete, walk.exception);
  if (walk.has_address) {
    fmt::format_to(out, ",\"ea\":\"0x{:016x}\",\"ra\":\"0x{:016x}\"", walk.ea.value, walk.ra.value);
  }
  if (walk.guest_shift != 0) fmt::format_to(out, ",\"guest_page\":{}", 1ULL << walk.guest_shift);
  if (walk.host_shift != 0) fmt::format_to(out, ",\"host_page\":{}", 1ULL << walk.host_shift);
  if (walk.has_partition) fmt::format_to(out, ",\"partition\":\"0x{:016x}\"", walk.partition);
  for (unsigned i = 0; i < kWalkLegs; i++) {
    const WalkLeg& leg = walk.legs.at(i);
    if (leg.there()) fmt::format_to(out, ",\"{}\":{}", kWalkLegNames.at(i), leg_object(leg));
  }
  output_.put(line + "}\n");
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/report/walk_report.h"

#include <fmt/core.h>

#include <array>
#include <iterator>
#include <string_view>

#include "output/io/percent.h"

namespace htmtrace {
namespace {

constexpr std::array<const char*, 2> kSides = {"instruction", "data"};

bool any_walk(const HotSpots& spots) {
  return spots.walks()[0].any() || spots.walks()[1].any();
}

// Calls `each` with the side and the statistics of each side with walks.
template <class Each>
void each_side(const HotSpots& spots, const Each& each) {
  for (size_t i = 0; i < kSides.size(); i++) {
    if (spots.walks().at(i).any()) each(kSides.at(i), spots.walks().at(i));
  }
}

// Calls `each` with the name and count of each kind. The kinds add up to all walks.
template <class Each>
void each_use(const WalkStatistics& walks, const Each& each) {
  each("complete", walks.complete);
  each("incomplete", walks.accesses - walks.complete);
  each("interrupted", walks.interrupted);
}

uint64_t all_walks(const HotSpots& spots) {
  uint64_t sum = 0;
  for (const WalkStatistics& walks : spots.walks()) sum += walks.accesses + walks.interrupted;
  return sum;
}

uint64_t all_accesses(const HotSpots& spots) {
  return spots.walks()[0].accesses + spots.walks()[1].accesses;
}

void write_page(JsonWriter& json, const char* key, size_t place) {
  if (kPageShift.at(place) == 0) return json.null(key);
  json.number(key, uint64_t{1} << kPageShift.at(place));
}

}  // namespace

std::string walks_text(const HotSpots& spots) {
  if (!any_walk(spots)) return {};
  std::string text = fmt::format("\nwalks through page tables\n{:>14} {:>7}  {:<12} {}\n", "walks",
                                 "share", "side", "use");
  const auto out = std::back_inserter(text);
  each_side(spots, [&](const char* side, const WalkStatistics& walks) {
    each_use(walks, [&](const char* use, uint64_t count) {
      if (count == 0) return;
      fmt::format_to(out, "{:>14} {:>6.2f}%  {:<12} {}\n", count, percent(count, all_walks(spots)),
                     side, use);
    });
  });
  if (all_accesses(spots) == 0) return text;
  fmt::format_to(out, "\npage sizes of the walks\n{:>14} {:>7}  {:<12} {:<6} {}\n", "walks",
                 "share", "side", "guest", "host");
  each_side(spots, [&](const char* side, const WalkStatistics& walks) {
    walks.each_page([&](size_t guest, size_t host, uint64_t count) {
      fmt::format_to(out, "{:>14} {:>6.2f}%  {:<12} {:<6} {}\n", count,
                     percent(count, all_accesses(spots)), side, kPageNames.at(guest),
                     kPageNames.at(host));
    });
  });
  return text;
}

std::string walks_csv(const HotSpots& spots) {
  std::string text;
  const auto out = std::back_inserter(text);
  each_side(spots, [&](const char* side, const WalkStatistics& walks) {
    each_use(walks, [&](const char* use, uint64_t count) {
      if (count != 0) fmt::format_to(out, "walk-{},,{},0,,,,,{},,,\n", side, count, use);
    });
  });
  each_side(spots, [&](const char* side, const WalkStatistics& walks) {
    walks.each_page([&](size_t guest, size_t host, uint64_t count) {
      fmt::format_to(out, "page-{},,{},0,,,,,guest {} host {},,,\n", side, count,
                     kPageNames.at(guest), kPageNames.at(host));
    });
  });
  return text;
}

void write_walks(JsonWriter& json, const HotSpots& spots) {
  if (!any_walk(spots)) return;
  json.begin_array("walks");
  each_side(spots, [&](const char* side, const WalkStatistics& walks) {
    json.begin_object();
    json.text("side", side);
    each_use(walks, [&](const char* use, uint64_t count) { json.number(use, count); });
    json.begin_array("pages");
    walks.each_page([&](size_t guest, size_t host, uint64_t count) {
      json.begin_object();
      write_page(json, "guest_page", guest);
      write_page(json, "host_page", host);
      json.number("walks", count);
      json.end_object();
    });
    json.end_array();
    json.end_object();
  });
  json.end_array();
}

}  // namespace htmtrace

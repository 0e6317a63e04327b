// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/report/heat_map_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <iterator>

#include "core/base/counted.h"
#include "core/base/size_text.h"
#include "output/io/csv_field.h"
#include "output/io/json_writer.h"
#include "output/io/percent.h"
#include "output/report/parts.h"

namespace htmtrace {
namespace {

constexpr std::string_view kShades = " .:-=+*#%@";
static_assert(kShades.size() == kHeatLevels + 1);

constexpr size_t kLabelColumns = 27;  // address, share, and the text between them

// Adds up `each` neighbors, so that all columns fit the line.
std::vector<uint64_t> narrowed(std::span<const uint64_t> windows, size_t each) {
  std::vector<uint64_t> sums((windows.size() + each - 1) / each);
  for (size_t i = 0; i < windows.size(); i++) sums[i / each] += windows[i];
  return sums;
}

std::string shades(const std::vector<uint64_t>& windows, uint64_t most) {
  std::string text;
  for (const uint64_t count : windows) text += kShades[heat_level(count, most)];
  return text;
}

// "0        ticks        1023": the begin of the first column and the end of the last column.
std::string time_line(const HeatMapReport& report, size_t columns) {
  const HeatMap& map = report.maps.map();
  const std::string begin = std::to_string(map.first_time());
  const std::string end = std::to_string(map.first_time() + map.windows() * map.window());
  const size_t used = begin.size() + end.size();
  const size_t room = columns > used ? columns - used : 1;
  return fmt::format("{}{:^{}}{}", begin, room > 14 ? plural(report.axis()) : "", room, end);
}

}  // namespace

unsigned heat_level(uint64_t count, uint64_t most) {
  if (count == 0) return 0;
  const auto width = static_cast<unsigned>(std::bit_width(count));
  const auto widest = static_cast<unsigned>(std::bit_width(std::max(most, count)));
  return std::max(1U, width * kHeatLevels / widest);
}

ShownRows shown_rows(const HeatMap& map, size_t top) {
  ShownRows shown{.rows = map.hottest(top), .rest = map.sums()};
  shown.others = map.rows() - shown.rows.size();
  shown.others_count = map.total();
  for (const HeatMap::Row& row : shown.rows) {
    shown.others_count -= row.count;
    for (size_t i = 0; i < row.windows.size(); i++) {
      shown.rest[i] -= row.windows[i];
      shown.most = std::max(shown.most, row.windows[i]);
    }
  }
  return shown;
}

std::string HeatMapReport::axis() const {
  return maps.axis() == HeatAxis::kTicks ? "tick" : step;
}

std::string HeatMapReport::to_text() const {
  const HeatMap& map = maps.map();
  const ShownRows shown = shown_rows(map, top);
  const size_t columns = width > kLabelColumns + 10 ? width - kLabelColumns : 10;
  const size_t each = std::max<size_t>(1, (map.windows() + columns - 1) / columns);
  uint64_t most = 0;
  for (const HeatMap::Row& row : shown.rows) {
    for (const uint64_t count : narrowed(row.windows, each)) most = std::max(most, count);
  }
  std::string text = remarks;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "\n{} by {} address: rows of {}{}, columns of {}\n", what, kind,
                 exact_size(map.unit_bytes()),
                 map.unit_bytes() == map.smallest_unit_bytes() ? "" : " (constant memory)",
                 counted(map.window() * each, axis()));
  if (map.total() == 0) return text + "nothing to show\n";
  const size_t used = (map.windows() + each - 1) / each;
  fmt::format_to(out, "{:<16} {:>7}  {}\n", "address", "share", time_line(*this, used));
  for (const HeatMap::Row& row : shown.rows) {
    const std::string title = name(row);
    fmt::format_to(out, "{:016x} {:>6.2f}% |{}|{}{}\n", row.address,
                   percent(row.count, map.total()), shades(narrowed(row.windows, each), most),
                   title.empty() ? "" : " ", title);
  }
  if (shown.others != 0) {
    fmt::format_to(out, "{:<16} {:>6.2f}% |{}| {}\n", "others",
                   percent(shown.others_count, map.total()),
                   shades(narrowed(shown.rest, each), most), counted(shown.others, "other row"));
  }
  fmt::format_to(out, "shades {} from 1 to {} in a row and column, logarithmic\n",
                 kShades.substr(1), most);
  return text;
}

std::string HeatMapReport::to_json() const {
  const HeatMap& map = maps.map();
  const ShownRows shown = shown_rows(map, top);
  JsonWriter json;
  json.begin_object();
  write_basis(json, "htmtrace-heat-map", totals, traces);
  json.text("counted", what);
  json.number("events", maps.events());
  json.number("without_address", maps.without_address());
  json.text("address", kind);
  json.number("unit_bytes", map.unit_bytes());
  json.text("time", plural(axis()));
  json.number("first_time", map.first_time());
  json.number("window", map.window());
  json.number("windows", uint64_t{map.windows()});
  json.number("most", shown.most);
  const auto windows = [&](std::span<const uint64_t> counts) {
    json.begin_array("counts");
    for (const uint64_t count : counts) json.number({}, count);
    json.end_array();
  };
  json.begin_array("rows");
  for (const HeatMap::Row& row : shown.rows) {
    json.begin_object();
    json.text("address", fmt::format("0x{:016x}", row.address));
    json.number("count", row.count);
    const std::string title = name(row);
    title.empty() ? json.null("symbol") : json.text("symbol", title);
    windows(row.windows);
    json.end_object();
  }
  json.end_array();
  json.begin_object("others");
  json.number("rows", shown.others);
  json.number("count", shown.others_count);
  windows(shown.rest);
  json.end_object();
  json.end_object();
  return json.take();
}

std::string HeatMapReport::to_csv() const {
  const HeatMap& map = maps.map();
  std::string text = "address,unit_bytes,time,window,count,symbol\n";
  for (const HeatMap::Row& row : shown_rows(map, top).rows) {
    const std::string title = csv_field(name(row));
    for (size_t i = 0; i < row.windows.size(); i++) {
      if (row.windows[i] == 0) continue;
      fmt::format_to(std::back_inserter(text), "0x{:016x},{},{},{},{},{}\n", row.address,
                     map.unit_bytes(), map.first_time() + i * map.window(), map.window(),
                     row.windows[i], title);
    }
  }
  return text;
}

}  // namespace htmtrace

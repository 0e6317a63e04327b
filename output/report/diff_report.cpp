// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/report/diff_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "core/base/counted.h"
#include "output/io/csv_field.h"
#include "output/io/json_writer.h"
#include "output/io/percent.h"

namespace htmtrace {
namespace {

// Parts with the same name share a row. The row has the lowest address of these parts on one side:
// the later side, if both sides have the name. The parts arrive in any order.
void take(const DiffCounts& counts, uint64_t DiffRow::*side,
          std::unordered_map<std::string, DiffRow>& rows) {
  std::vector<const DiffPart*> parts;
  parts.reserve(counts.parts.size());
  for (const DiffPart& part : counts.parts) {
    if (part.count != 0) parts.push_back(&part);
  }
  std::ranges::sort(parts, std::greater(), [](const DiffPart* part) {
    return std::tuple(part->address.value_or(UINT64_MAX), std::string_view(part->symbol));
  });
  for (const DiffPart* part : parts) {
    DiffRow& row = rows[part->name];
    row.name = part->name;
    row.address = part->address;
    if (!part->symbol.empty()) row.symbol = part->symbol;
    row.*side += part->count;
  }
}

std::string share_text(uint64_t count, double share) {
  return count == 0 ? "-" : fmt::format("{:.2f}%", share);
}

std::string count_text(uint64_t count) {
  return count == 0 ? "-" : fmt::format("{}", count);
}

std::string describe(const char* title, const DiffSide& side) {
  return fmt::format("{:<7} {}: {}, {}\n", title, side.name, counted(side.traces, "trace"),
                     describe(side.totals));
}

std::string error_text(const DiffTable& table) {
  const uint64_t error = std::max(table.before_error, table.after_error);
  if (error == 0) return "";
  return fmt::format(" (constant memory: counts may be too small by at most {})", error);
}

void write_side(JsonWriter& json, const char* key, const DiffSide& side) {
  json.begin_object(key);
  json.text("name", side.name);
  json.number("traces", uint64_t{side.traces});
  json.number("bytes", side.totals.bytes);
  json.number("instructions", side.totals.instructions);
  json.number("commands", side.totals.commands);
  json.number("losses", side.totals.losses);
  json.number("defects", side.totals.defects);
  json.end_object();
}

void write_row(JsonWriter& json, const DiffRow& row) {
  json.begin_object();
  json.text("name", row.name);
  if (row.address) {
    json.text("address", fmt::format("0x{:016x}", *row.address));
  } else {
    json.null("address");
  }
  if (row.symbol.empty()) {
    json.null("symbol");
  } else {
    json.text("symbol", row.symbol);
  }
  json.number("before", row.before);
  json.number("after", row.after);
  json.end_object();
}

}  // namespace

double DiffTable::before_share(const DiffRow& row) const {
  return percent(row.before, before_whole);
}

double DiffTable::after_share(const DiffRow& row) const {
  return percent(row.after, after_whole);
}

std::string_view diff_remark(const DiffRow& row) {
  if (row.before == 0) return "new";
  return row.after == 0 ? "gone" : "";
}

DiffTable compare(const DiffTitle& title, const DiffCounts& before, const DiffCounts& after) {
  DiffTable table{.key = title.key,
                  .title = title.title,
                  .unit_bytes = title.unit_bytes,
                  .before_whole = before.whole,
                  .after_whole = after.whole,
                  .before_error = before.error,
                  .after_error = after.error,
                  .rows = {}};
  std::unordered_map<std::string, DiffRow> rows;
  take(before, &DiffRow::before, rows);
  take(after, &DiffRow::after, rows);
  table.rows.reserve(rows.size());
  for (auto& [name, row] : rows) table.rows.push_back(std::move(row));
  std::sort(table.rows.begin(), table.rows.end(), [&](const DiffRow& a, const DiffRow& b) {
    const double first = std::abs(table.change(a));
    const double second = std::abs(table.change(b));
    return first != second ? first > second : a.name < b.name;
  });
  return table;
}

std::string DiffReport::to_text() const {
  std::string text = describe("before", before) + describe("after", after);
  const auto out = std::back_inserter(text);
  for (const DiffTable& table : tables) {
    fmt::format_to(out, "\n{}{}\n{:>14} {:>9} {:>14} {:>9} {:>8}\n", table.title, error_text(table),
                   "before", "share", "after", "share", "change");
    for (size_t i = 0; i < std::min(top, table.rows.size()); i++) {
      const DiffRow& row = table.rows[i];
      fmt::format_to(out, "{:>14} {:>9} {:>14} {:>9} {:>+8.2f}  {:<4}  {}{}{}\n",
                     count_text(row.before), share_text(row.before, table.before_share(row)),
                     count_text(row.after), share_text(row.after, table.after_share(row)),
                     table.change(row), diff_remark(row), row.name,
                     row.symbol.empty() ? "" : "  in ", row.symbol);
    }
    if (table.rows.size() > top) {
      uint64_t more_before = 0, more_after = 0;
      for (size_t i = top; i < table.rows.size(); i++) {
        more_before += table.rows[i].before;
        more_after += table.rows[i].after;
      }
      fmt::format_to(out, "{:>14} {:>9} {:>14} {:>9} {:>8}  {} more with smaller changes\n",
                     count_text(more_before),
                     share_text(more_before, percent(more_before, table.before_whole)),
                     count_text(more_after),
                     share_text(more_after, percent(more_after, table.after_whole)), "",
                     table.rows.size() - top);
    }
  }
  return text;
}

std::string DiffReport::to_json() const {
  JsonWriter json;
  json.begin_object();
  json.text("format", "htmtrace-diff");
  json.number("version", uint64_t{1});
  json.text("compared", what);
  write_side(json, "before", before);
  write_side(json, "after", after);
  json.begin_array("tables");
  for (const DiffTable& table : tables) {
    json.begin_object();
    json.text("table", table.key);
    if (table.unit_bytes != 0) json.number("unit_bytes", table.unit_bytes);
    json.number("before", table.before_whole);
    json.number("after", table.after_whole);
    json.number("before_error", table.before_error);
    json.number("after_error", table.after_error);
    json.number("rows_in_all", uint64_t{table.rows.size()});
    json.begin_array("rows");
    for (size_t i = 0; i < std::min(top, table.rows.size()); i++) write_row(json, table.rows[i]);
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.take();
}

std::string DiffReport::to_csv() const {
  std::string text =
      "table,unit_bytes,name,address,symbol,before,after,before_share,after_share,change\n";
  for (const DiffTable& table : tables) {
    for (size_t i = 0; i < std::min(top, table.rows.size()); i++) {
      const DiffRow& row = table.rows[i];
      fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{},{:.4f},{:.4f},{:.4f}\n",
                     table.key, table.unit_bytes == 0 ? "" : std::to_string(table.unit_bytes),
                     csv_field(row.name), row.address ? fmt::format("0x{:016x}", *row.address) : "",
                     csv_field(row.symbol), row.before, row.after, table.before_share(row),
                     table.after_share(row), table.change(row));
    }
  }
  return text;
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/report/heat_map.h"

#include <fmt/core.h>

#include "output/io/percent.h"

namespace htmtrace {
namespace {

constexpr size_t kTextRows = 32;  // fills a terminal, with headings and footers
constexpr size_t kSvgRows = 128;

}  // namespace

void add_basis(HeatMapReport& report) {
  const HeatMaps& maps = report.maps;
  report.remarks += fmt::format("{} {} reported", maps.events(), report.what);
  if (maps.without_address() != 0) {
    report.remarks += fmt::format(
        ", {} ({:.2f}%) of them without a known {} address are not in the map",
        maps.without_address(), percent(maps.without_address(), maps.events()), report.kind);
  }
  report.remarks += '\n';
}

std::string print_heat(HeatMapReport& report, const ReportOptions& options) {
  add_basis(report);
  const bool text = options.format == ReportFormat::kText;
  report.top = options.top.value_or(text ? kTextRows : kSvgRows);
  report.width = options.columns.value_or(HeatMapReport::kWidth);
  switch (options.format) {
    case ReportFormat::kText:
    case ReportFormat::kPerfetto:   // for timelines only
    case ReportFormat::kCallgrind:  // for call trees only
    case ReportFormat::kLcov:       // for coverage only
    case ReportFormat::kLlvmProfile:
    case ReportFormat::kCallOrder:
    case ReportFormat::kHtml:  // another page has the map
      break;
    case ReportFormat::kJson:
      return report.to_json();
    case ReportFormat::kCsv:
      return report.to_csv();
    case ReportFormat::kSvg:
      return report.to_svg();
  }
  return report.to_text();
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/page/html_table.h"

#include <fmt/core.h>

#include <iterator>
#include <utility>

#include "output/io/percent.h"
#include "output/io/xml_text.h"

namespace htmtrace {
namespace {

constexpr size_t kMostCellBytes = 600;
constexpr size_t kMostIndent = 60;  // deeper lines are not moved further

const char* class_of(HtmlTable::Kind kind) {
  switch (kind) {
    case HtmlTable::Kind::kNumber:
      return " class=\"n\"";
    case HtmlTable::Kind::kCode:
      return " class=\"c\"";
    case HtmlTable::Kind::kText:
      break;
  }
  return "";
}

}  // namespace

// A wide table scrolls in its frame, which the keyboard must reach.
HtmlTable::HtmlTable(const std::string& caption, std::initializer_list<Column> columns)
    : text_("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"" +
            xml_text(caption) + "\"><table><caption>" + xml_text(caption) +
            "</caption><thead><tr>") {
  for (const Column& column : columns) {
    kinds_.push_back(column.kind);
    text_ +=
        fmt::format("<th scope=\"col\"{}>{}</th>", class_of(column.kind), xml_text(column.title));
  }
  text_ += "</tr></thead><tbody>\n";
}

void HtmlTable::line(std::initializer_list<std::string> texts, size_t indent) {
  text_ += "<tr>";
  size_t column = 0;
  for (const std::string& text : texts) {
    const bool moved = indent != 0 && column + 1 == texts.size();
    fmt::format_to(std::back_inserter(text_), "<td{}{}>{}</td>", class_of(kinds_.at(column)),
                   moved ? fmt::format(" style=\"padding-left:{}ch\"",
                                       1 + 2 * (indent < kMostIndent ? indent : kMostIndent))
                         : "",
                   short_xml_text(text, kMostCellBytes));
    column++;
  }
  text_ += "</tr>\n";
  lines_++;
}

std::string HtmlTable::take() {
  return take_first_of(lines_);
}

std::string HtmlTable::take_first_of(size_t all) {
  text_ += "</tbody></table></div>\n";
  if (lines_ != all) {
    fmt::format_to(std::back_inserter(text_), "<p class=\"note\">the first {} of {} lines</p>\n",
                   lines_, all);
  }
  return std::move(text_);
}

std::string percent_text(uint64_t part, uint64_t whole) {
  return fmt::format("{:.2f}%", percent(part, whole));
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/page/html_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "output/io/xml_text.h"

namespace htmtrace {
namespace {

// The numbers and bounds of a report, one paragraph for each line.
std::string paragraphs(std::string_view lines) {
  std::string text;
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    if (end != 0) text += "<p>" + xml_text(lines.substr(0, end)) + "</p>\n";
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return text;
}

std::string warnings_of(const PageHead& head) {
  if (!head.incomplete && head.warnings.empty()) return {};
  std::string text = "<div class=\"warning\" role=\"note\"><strong>incomplete</strong>\n<ul>\n";
  for (const std::string& warning : head.warnings) {
    text += "<li>" + xml_text(warning) + "</li>\n";
  }
  if (head.incomplete) {
    text += "<li>Data was lost, or could not be read or decoded.</li>\n";
  }
  return text + "</ul></div>\n";
}

}  // namespace

void HtmlPage::section(const std::string& title, const std::string& html) {
  const std::string safe = xml_text(title);
  fmt::format_to(std::back_inserter(contents_), "<a href=\"#s{}\">{}</a>\n", ++count_, safe);
  fmt::format_to(std::back_inserter(sections_),
                 "<section aria-labelledby=\"s{0}\"><h2 id=\"s{0}\">{1}</h2>\n", count_, safe);
  sections_ += html;
  sections_ += "</section>\n";
}

std::string HtmlPage::take() {
  const std::string title = xml_text(head_.title);
  std::string text = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; script-src '{}'\">\n"
      "<title>{} - htmtrace report</title>\n<style>{}</style></head>\n<body>\n"
      "<header><h1>htmtrace report</h1><p class=\"c\">{}</p></header>\n",
      kScriptHash, title, page_style(), title);
  text += warnings_of(head_);
  text += "<div class=\"basis\">" + paragraphs(basis_) + "</div>\n<nav aria-label=\"Contents\">\n";
  text += contents_;
  // The script shows the search, which does nothing without it.
  text +=
      "</nav>\n<div class=\"search\" hidden><label for=\"search\">Search</label>\n"
      "<input id=\"search\" type=\"search\" autocomplete=\"off\" spellcheck=\"false\" "
      "placeholder=\"function, address, ...\">\n<output id=\"found\" for=\"search\"></output>"
      "</div>\n<main>\n";
  text += sections_;
  text += fmt::format("</main>\n<footer>{}</footer>\n<script>", xml_text(head_.program));
  text += page_script();
  return text + "</script>\n</body></html>\n";
}

std::string fixed_text(const std::string& lines) {
  std::string text = "<pre class=\"scroll\" tabindex=\"0\">";
  std::string_view rest = lines;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    text += xml_text(rest.substr(0, end)) + "\n";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return text + "</pre>\n";
}

std::string scrolled(const std::string& label, const std::string& picture) {
  return fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\n{}"
      "</div>\n",
      xml_text(label), picture);
}

}  // namespace htmtrace

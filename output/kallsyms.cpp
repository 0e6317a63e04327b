// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/kallsyms.h"

#include <charconv>
#include <string>

namespace htmtrace {
namespace {

std::string_view take_until(std::string_view& text, std::string_view marks) {
  const size_t end = text.find_first_of(marks);
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return taken;
}

// Absolute symbols (per-CPU offsets and the like) are no addresses.
bool is_place(std::string_view type) {
  return type.size() == 1 && type != "A" && type != "a" && type != "U";
}

}  // namespace

KallsymsReport add_kallsyms(std::string_view text, SymbolTable& table) {
  KallsymsReport report;
  while (!text.empty()) {
    std::string_view line = take_until(text, "\n");
    if (line.empty()) continue;
    const std::string_view digits = take_until(line, " ");
    const std::string_view type = take_until(line, " ");
    std::string name(take_until(line, "\t "));
    uint64_t address = 0;
    const auto [stop, failure] =
        std::from_chars(digits.data(), digits.data() + digits.size(), address, 16);
    if (failure != std::errc{} || stop != digits.data() + digits.size() || type.size() != 1 ||
        name.empty()) {
      report.malformed++;
      continue;
    }
    if (!is_place(type)) continue;
    if (address == 0) {
      report.hidden++;
      continue;
    }
    if (!line.empty()) name.append(" ").append(line);
    table.add({address, 0, std::move(name)});
    report.symbols++;
  }
  return report;
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/symbols/kallsyms.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>
#include <utility>

namespace htmtrace {
namespace {

std::string_view take_until(std::string_view& text, std::string_view marks) {
  const size_t end = text.find_first_of(marks);
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return taken;
}

// Absolute symbols (such as per-CPU offsets) are not addresses.
bool is_place(std::string_view type) {
  return type.size() == 1 && type != "A" && type != "a" && type != "U";
}

// The linker's end labels do not name bytes (kernel: arch/powerpc/kernel/vmlinux.lds.S and
// include/asm-generic/sections.h).
bool is_end(std::string_view name) {
  constexpr std::string_view kEnds[] = {"_end",         "_etext",     "_edata",
                                        "_einittext",   "_eirodata",  "__bss_stop",
                                        "__end_rodata", "__init_end", "__stop___ex_table"};
  return std::find(std::begin(kEnds), std::end(kEnds), name) != std::end(kEnds);
}

// nm(1): upper case marks global symbols, v and w mark weak symbols, t marks code, and w marks code
// or data.
SymbolTable::Symbol symbol_of(uint64_t address, char type, std::string name) {
  using Table = SymbolTable;
  const bool is_weak = std::string_view("vVwW").find(type) != std::string_view::npos;
  const bool is_global = type >= 'A' && type <= 'Z';
  const bool is_code = type == 't' || type == 'T';
  return {.address = address,
          .name = std::move(name),
          .kind = Table::Kind::kFunction,
          .binding = is_weak     ? Table::Binding::kWeak
                     : is_global ? Table::Binding::kGlobal
                                 : Table::Binding::kLocal,
          .section = is_code                      ? Table::Section::kCode
                     : type == 'w' || type == 'W' ? Table::Section::kUnknown
                                                  : Table::Section::kData};
}

}  // namespace

KallsymsReport add_kallsyms(std::string_view text, SymbolTable& table) {
  KallsymsReport report;
  table.budget().add_input(text.size());
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
    table.budget().take(SymbolTable::memory_bytes(name.size() + line.size()));
    if (is_end(name)) {
      table.add({.address = address,
                 .name = {},
                 .kind = SymbolTable::Kind::kUntyped,
                 .binding = SymbolTable::Binding::kLocal});
      report.symbols++;
      continue;
    }
    if (!line.empty()) name.append(" ").append(line);
    table.add(symbol_of(address, type.front(), std::move(name)));
    report.symbols++;
  }
  return report;
}

}  // namespace htmtrace

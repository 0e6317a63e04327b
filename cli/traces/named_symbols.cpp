// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/traces/named_symbols.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "cli/messages.h"
#include "cli/similar_names.h"
#include "core/base/error.h"

namespace htmtrace {
namespace {

constexpr std::string_view kRangeMark = "..";

// The names of symbols in kernel modules end with " [module]".
std::string_view without_module(std::string_view name) {
  return name.ends_with(']') ? name.substr(0, name.rfind(" [")) : name;
}
std::string_view module_of(std::string_view name) {
  const std::string_view rest = name.substr(without_module(name).size());
  return rest.empty() ? rest : rest.substr(2, rest.size() - 3);
}

// GCC's and LLVM's names for parts and variants of a function: "handle.constprop.0", "read.cold".
bool is_variant(std::string_view symbol, std::string_view name) {
  if (name.empty() || !symbol.starts_with(name)) return false;
  const std::string_view rest = symbol.substr(name.size());
  return std::ranges::any_of(std::array<std::string_view, 6>{".constprop.", ".isra.", ".part.",
                                                             ".cold", ".lto_priv.", ".llvm."},
                             [&](std::string_view mark) { return rest.starts_with(mark); });
}

// Text prints "inner[nest_pmu]", other formats print "inner [nest_pmu]".
bool is_called(std::string_view symbol, std::string_view name) {
  if (symbol == name || is_variant(symbol, name)) return true;
  const std::string_view bare = without_module(symbol);
  if (bare.size() == symbol.size() || !name.starts_with(bare)) return false;
  const std::string_view rest = name.substr(bare.size());
  return rest.empty() || rest == symbol.substr(bare.size() + 1);
}

// "0x1c" or "1c".
std::optional<uint64_t> parse_offset(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value, 16);
  if (failure != std::errc{} || stop != end) return std::nullopt;
  return value;
}

Error no_symbols(const std::string& option) {
  return Error(fmt::format("cannot use {}: no symbols found", option))
      .hint(
          "pass --elf PROGRAM for a program, or --kallsyms FILE for the kernel, or record as root, "
          "without --no-symbols");
}

void add_similar(Error& error, const SimilarNames& similar) {
  const std::string question = similar.question();
  if (!question.empty()) error = std::move(error).hint(question);
}

}  // namespace

std::vector<NamedSymbols::Found> NamedSymbols::all(std::string_view name) const {
  std::vector<Found> found;
  symbols_.visit([&](const Named& named) {
    const SymbolTable::Symbol& symbol = *named.symbol;
    if (!is_called(symbol.name, name) || !fits(symbol)) return;
    SymbolSet::Part part{.symbol = &symbol};
    if (symbol.named_at == 0) {
      part.symbol = symbols_.find_in(named.layer, symbol.address);
      if (part.symbol == nullptr || !fits(*part.symbol)) return;
      const uint64_t offset = symbol.address - part.symbol->address;
      if (offset != 0) part.first = part.last = offset;
    }
    const auto same = [&](const Found& other) {
      return other.part.symbol == part.symbol && other.part.first == part.first;
    };
    if (std::ranges::none_of(found, same)) found.push_back({named, part});
  });
  return found;
}

void NamedSymbols::add(const std::string& text, SymbolSet& to) const {
  if (symbols_.empty()) throw no_symbols(option_);
  const std::vector<Found> found = all(text);
  for (const Found& each : found) to.add(each.part);
  if (found.size() > 1) note_several(found, text);
  if (!found.empty() || add_range(text, to) || add_place(text, to)) return;
  refuse(text);
}

// Parses NAME+OFFSET.
bool NamedSymbols::add_place(std::string_view text, SymbolSet& to) const {
  const size_t plus = text.rfind('+');
  if (plus == std::string_view::npos) return false;
  const auto offset = parse_offset(text.substr(plus + 1));
  const std::vector<Found> found = all(text.substr(0, plus));
  if (!offset || found.empty()) return false;
  bool any = false;
  for (const auto& [named, part] : found) {
    const uint64_t size_bytes = named.symbol->size_bytes;
    if (size_bytes != 0 && *offset >= size_bytes) continue;
    // A nested symbol can name this address.
    const uint64_t address = named.symbol->address + *offset;
    const SymbolTable::Symbol* const symbol = symbols_.find_in(named.layer, address);
    if (symbol == nullptr) continue;
    const uint64_t place = address - symbol->address;
    to.add({.symbol = symbol, .first = place, .last = place});
    any = true;
  }
  if (!any) {
    const SymbolTable::Symbol& symbol = *found.front().named.symbol;
    throw Error(fmt::format("cannot use {} {}: {} has {:#x} bytes", option_, text, symbol.name,
                            symbol.size_bytes));
  }
  if (found.size() > 1) note_several(found, std::string(text.substr(0, plus)));
  return true;
}

// Parses FIRST..LAST: all symbols of one file from FIRST to LAST, in the order of their addresses.
// A name can contain two dots, so the function tries each position of two dots.
bool NamedSymbols::add_range(std::string_view text, SymbolSet& to) const {
  for (size_t mark = text.find(kRangeMark); mark != std::string_view::npos;
       mark = text.find(kRangeMark, mark + 1)) {
    const std::string_view first_name = text.substr(0, mark);
    const std::string_view last_name = text.substr(mark + kRangeMark.size());
    const std::vector<Found> firsts = all(first_name);
    const std::vector<Found> lasts = all(last_name);
    if (firsts.empty() || lasts.empty()) continue;
    std::vector<Found> begins;
    for (const Found& first : firsts) {
      for (const Found& last : lasts) {
        const SymbolTable::Symbol& end = *last.named.symbol;
        if (first.named.layer != last.named.layer || end.address < first.named.symbol->address) {
          continue;
        }
        add_between(first.named, end, to);
        begins.push_back(first);
      }
    }
    if (begins.empty()) {
      throw Error(fmt::format("cannot use {} {}: {} does not follow {} in one file", option_, text,
                              last_name, first_name));
    }
    if (begins.size() > 1) note_several(begins, std::string(text));
    return true;
  }
  return false;
}

void NamedSymbols::add_between(const Named& first, const SymbolTable::Symbol& last,
                               SymbolSet& to) const {
  symbols_.visit([&](const Named& named) {
    const SymbolTable::Symbol& symbol = *named.symbol;
    if (named.layer == first.layer && fits(symbol) && symbol.address >= first.symbol->address &&
        symbol.address <= last.address) {
      to.add({.symbol = &symbol});
    }
  });
}

void NamedSymbols::note_several(const std::vector<Found>& found, const std::string& name) const {
  if (quiet_) return;
  constexpr size_t kMostShown = 8;
  std::string places;
  for (size_t i = 0; i < std::min(found.size(), kMostShown); i++) {
    const auto& [symbol, layer] = found[i].named;
    places += fmt::format("{}{:x}", i == 0 ? "" : ", ", symbol->address);
    places += layer != 0 ? " in " + symbols_.programs()[layer - 1].file : " in the kernel";
  }
  if (found.size() > kMostShown) places += ", ...";
  print_note(fmt::format("{} {}: selected all {} symbols of this name: {}", option_, name,
                         found.size(), places));
}

void NamedSymbols::refuse(const std::string& text) const {
  std::string name = text.substr(0, text.rfind('+'));
  if (const size_t mark = text.find(kRangeMark); mark != std::string::npos) {
    name = text.substr(0, mark);
    if (exists(name)) name = text.substr(mark + kRangeMark.size());
  }
  Error error(fmt::format("cannot use {} {}: no symbol has the name {}", option_, text, name));
  SimilarNames similar(name);
  symbols_.visit([&](const Named& named) {
    if (fits(*named.symbol)) similar.offer(named.symbol->name);
  });
  add_similar(error, similar);
  if (symbols_.programs().empty()) {
    error = std::move(error).hint("the names of a program require --elf PROGRAM");
  }
  throw error;
}

namespace {

// Returns whether the recording has pages or mappings of a file with this path.
bool is_recorded(const std::string& path, const SymbolTable& symbols) {
  const auto& files = symbols.pages().files();
  const auto file = files.lower_bound({path, 0});
  return path.starts_with('/') &&
         ((file != files.end() && file->first.first == path) ||
          std::ranges::any_of(symbols.programs(),
                              [&](const auto& program) { return program.path == path; }));
}

// Adds the kernel modules, the files of the recording and the programs that have this name. Appends
// an unknown name to `unknown`, or throws Error if `unknown` is null.
void add_code(const std::string& path, NameSelection& selection,
              std::vector<std::string>* unknown) {
  const SymbolTable& symbols = *selection.symbols;
  const std::string name = path.substr(path.rfind('/') + 1);
  SimilarNames similar(name);
  bool found = false;
  symbols.visit([&](const SymbolTable::Named& named) {
    const std::string_view module = module_of(named.symbol->name);
    if (module.empty()) return;
    if (module == name) {
      selection.modules.add({.symbol = named.symbol});
      found = true;
    } else {
      similar.offer(module);
    }
  });
  // A whole path selects only this file.
  const bool whole = is_recorded(path, symbols);
  for (const auto& [file, number] : symbols.pages().files()) {
    const std::string_view file_path = file.first;
    const std::string_view file_name = file_path.substr(file_path.rfind('/') + 1);
    if (whole ? file_path == path : file_name == name) {
      selection.files.push_back(number);
      found = true;
    } else {
      similar.offer(file_name);
    }
  }
  for (size_t i = 0; i < symbols.programs().size(); i++) {
    const SymbolTable::Program& program = symbols.programs()[i];
    if (program.file == name && (!whole || program.path.empty() || program.path == path)) {
      selection.programs.push_back(i);
      found = true;
    } else {
      similar.offer(program.file);
    }
  }
  if (found) return;
  if (unknown != nullptr) {
    unknown->push_back(path);
    return;
  }
  Error error(
      fmt::format("cannot use --code {}: no file or kernel module of this name is known", path));
  add_similar(error, similar);
  throw std::move(error).hint(
      "htmtrace record -- PROGRAM lists the files of PROGRAM; for other files, pass --elf FILE");
}

}  // namespace

CodePlace resolve_place(const std::string& text, const std::string& option,
                        const SymbolTable& symbols, bool quiet) {
  SymbolSet named;
  NamedSymbols(symbols, option, true, quiet).add(text, named);
  CodePlace place;
  for (const SymbolSet::Part& part : named.parts()) {
    place.starts.add({.symbol = part.symbol, .first = part.first, .last = part.first});
    const uint64_t entry = part.symbol->local_entry_bytes;
    const bool whole = part.first != part.last;
    if (whole && entry != 0) {
      place.local_entries.add({.symbol = part.symbol, .first = entry, .last = entry});
    }
  }
  place.starts.finish();
  place.local_entries.finish();
  return place;
}

std::pair<std::string, std::string> split_names(const std::string& text,
                                                const SymbolTable& symbols) {
  const NamedSymbols names(symbols, {}, true, /*quiet=*/true);
  const size_t first = text.find(',');
  if (first == std::string::npos) return {text, {}};
  for (size_t comma = first; comma != std::string::npos; comma = text.find(',', comma + 1)) {
    if (names.exists(text.substr(0, comma)) && names.exists(text.substr(comma + 1))) {
      return {text.substr(0, comma), text.substr(comma + 1)};
    }
  }
  return {text.substr(0, first), text.substr(first + 1)};
}

NameSelection resolve(const NameOptions& options, const SymbolTable& symbols,
                      std::vector<std::string>* unknown) {
  NameSelection selection;
  selection.symbols = &symbols;
  const NamedSymbols functions(symbols, "--function", true, options.quiet);
  for (const std::string& name : options.functions) functions.add(name, selection.functions);
  const NamedSymbols objects(symbols, "--data", false, options.quiet);
  for (const std::string& name : options.objects) objects.add(name, selection.objects);
  selection.of_file = !options.files.empty();
  for (const std::string& name : options.files) add_code(name, selection, unknown);
  selection.functions.finish();
  selection.objects.finish();
  selection.modules.finish();
  return selection;
}

}  // namespace htmtrace

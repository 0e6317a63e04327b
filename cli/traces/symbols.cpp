// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/traces/symbols.h"

#include <fmt/core.h>

#include <charconv>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "cli/help.h"
#include "cli/messages.h"
#include "cli/traces/program_files.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "output/io/input_file.h"
#include "output/recording/file_names.h"
#include "output/recording/symbol_files.h"
#include "output/symbols/elf_symbols.h"
#include "output/symbols/kallsyms.h"
#include "output/symbols/program_maps.h"

namespace htmtrace {
namespace {

constexpr uint64_t kMostKallsymsBytes = 256 << 20;
constexpr uint64_t kMostPagesBytes = 256 << 20;

// "FILE" or "FILE@ADDRESS".
void add_elf(const std::string& text, const ProgramMaps& maps, SymbolTable& table) {
  const size_t at = text.rfind('@');
  if (at != std::string::npos) {
    std::string_view digits = std::string_view(text).substr(at + 1);
    if (digits.starts_with("0x")) digits.remove_prefix(2);
    uint64_t address = 0;
    const char* end = digits.data() + digits.size();
    const auto [stop, failure] = std::from_chars(digits.data(), end, address, 16);
    if (failure == std::errc{} && stop == end) {
      add_elf_symbols(text.substr(0, at), address, table);
      return;
    }
  }
  add_named_file(text, maps, table);
}

// Reads a text file and passes its text to `take`, whose errors get the name of the file.
template <class Take>
auto with_text(const std::string& path, uint64_t most_bytes, const Take& take) {
  const std::vector<std::byte> text = InputFile::open(path).read_all(most_bytes);
  try {
    return take(std::string_view(reinterpret_cast<const char*>(text.data()), text.size()));
  } catch (const Error& error) {
    throw error.about("cannot use " + path);
  }
}

// Returns the file that `record` saved beside the traces, or beside the numbered folders of several
// recordings. Another folder above a recording may be that of strangers, for example /tmp.
std::string recorded_file(const std::vector<std::string>& paths, const char* name) {
  namespace fs = std::filesystem;
  for (const fs::path path : paths) {
    if (path == "-") continue;
    const fs::path folder =
        type_of_file(path) == fs::file_type::directory ? path : path.parent_path();
    std::vector<fs::path> places = {folder / name};
    if (is_numbered(folder)) places.push_back(folder / ".." / name);
    for (const fs::path& file : places) {
      if (type_of_file(file) == fs::file_type::regular) return file.string();
    }
  }
  return {};
}

ProgramMaps program_maps_of(const std::string& maps_file) {
  if (maps_file.empty()) return {};
  return with_text(maps_file, kMostPagesBytes,
                   [](std::string_view text) { return parse_program_maps(text); });
}

// The programs of one recording have addresses that those of another do not have.
ProgramMaps load_program_maps(const std::vector<std::string>& paths, bool quiet) {
  std::set<std::string> files;
  for (const std::string& path : paths) files.insert(recorded_file({path}, kMapsName));
  if (files.size() > 1) {
    if (!quiet) print_note("several recordings: program files give names only with --elf");
    return {};
  }
  ProgramMaps maps = program_maps_of(files.empty() ? "" : *files.begin());
  if (maps.malformed != 0) {
    print_warning(fmt::format("cannot parse {} of {}; skipped them",
                              counted(maps.malformed, "line"), *files.begin()));
  }
  return maps;
}

// Returns false when the recording has no file of pages.
bool read_pages(const std::vector<std::string>& paths, PageNames& names) {
  const std::string path = recorded_file(paths, kPagesName);
  if (path.empty()) return false;
  const size_t malformed =
      with_text(path, kMostPagesBytes, [&](std::string_view text) { return names.add_file(text); });
  if (malformed != 0) {
    print_warning(
        fmt::format("cannot parse {} of {}; skipped them", counted(malformed, "line"), path));
  }
  return true;
}

// Adds the pages that prove which program an address belongs to.
void add_page_owners(const std::vector<std::string>& paths, bool quiet, SymbolTable& table) {
  const SymbolTable none;
  PageNames names(none);
  if (!read_pages(paths, names) || names.processes().empty()) {
    if (quiet || table.programs().empty()) return;
    print_note(
        "names that end with ? are not proven: the recording has no pages of programs (record as "
        "root to save them)");
    return;
  }
  PageOwners owners = names.take_owners();
  std::set<std::string> unproven;
  for (const SymbolTable::Program& program : table.programs()) {
    const uint32_t number = SymbolTable::number_in(owners, program);
    if (number != PageOwners::kNone || !unproven.insert(program.file).second) continue;
    print_warning(
        fmt::format("cannot prove the names of {}: the recording has no pages of this file, or "
                    "several files have this name; its names end with ?",
                    program.file));
  }
  table.set_pages(std::move(owners));
}

}  // namespace

std::vector<std::string> files_of(const SymbolOptions& options) {
  std::vector<std::string> files = {options.kallsyms};
  for (const std::string& file : options.elf) {
    files.push_back(file);
    files.push_back(file.substr(0, file.rfind('@')));
  }
  return files;
}

std::vector<std::string> inputs_of(const SymbolOptions& options,
                                   const std::vector<std::string>& paths) {
  std::vector<std::string> files = files_of(options);
  if (!can_read_elf()) return files;
  for (const std::string& path : paths) {
    const ProgramMaps maps = program_maps_of(recorded_file({path}, kMapsName));
    const std::vector<std::string> usable = usable_files(maps);
    files.insert(files.end(), usable.begin(), usable.end());
  }
  return files;
}

SymbolTable load_symbols(const SymbolOptions& options, const std::vector<std::string>& paths,
                         const SymbolLoading& how) {
  SymbolTable table;
  const std::string kallsyms =
      options.kallsyms.empty() ? recorded_file(paths, kKallsymsName) : options.kallsyms;
  if (!kallsyms.empty()) {
    size_t text_bytes = 0;
    const KallsymsReport report =
        with_text(kallsyms, kMostKallsymsBytes, [&](std::string_view text) {
          text_bytes = text.size();
          return add_kallsyms(text, table);
        });
    if (report.symbols == 0 && text_bytes != 0) {
      print_warning(fmt::format("{} has no addresses{}", kallsyms,
                                report.hidden != 0 ? ": copy /proc/kallsyms as root"
                                                   : ": is it a copy of /proc/kallsyms?"));
    } else if (report.malformed != 0) {
      print_warning(
          fmt::format("{} has {}", kallsyms, counted(report.malformed, "malformed line")));
    }
  }
  const ProgramMaps maps = can_read_elf() ? load_program_maps(paths, how.quiet) : ProgramMaps{};
  for (const std::string& file : options.elf) add_elf(file, maps, table);
  add_recorded_files(maps, files_of(options), table);
  if (how.owners || !table.programs().empty()) add_page_owners(paths, how.quiet, table);
  table.finish();
  return table;
}

PageOwners load_page_owners(const std::string& path) {
  const SymbolTable none;
  PageNames names(none);
  if (!read_pages({path}, names)) return {};
  return names.take_owners();
}

RecordedProcesses load_processes(const std::string& path) {
  const SymbolTable none;
  PageNames names(none);
  if (!read_pages({path}, names)) return {};
  RecordedProcesses recorded{.processes = names.processes()};
  recorded.has_provable = names.take_owners().has_provable();
  return recorded;
}

PageNames load_page_names(const SymbolOptions& options, const std::vector<std::string>& paths,
                          const SymbolTable& known) {
  PageNames names(known);
  if (!read_pages(paths, names)) return names;
  const size_t without_room = names.add_symbols({options.elf.begin(), options.elf.end()});
  if (without_room != 0) {
    print_warning(fmt::format("the names of {} are missing: they would take too much memory",
                              counted(without_room, "program file")));
  }
  return names;
}

MappingNames load_mapping_names(const std::string& path) {
  MappingNames names;
  for (const char* const file : {kMapsName, kPagesName}) {
    const std::string maps = recorded_file({path}, file);
    if (maps.empty()) continue;
    with_text(maps, kMostPagesBytes, [&](std::string_view text) { names.add_file(text); });
  }
  return names;
}

void declare_symbols(CLI::App& app, SymbolOptions& options) {
  app.option_defaults()->group(kSymbolGroup);
  app.add_option("--kallsyms", options.kallsyms, "Kernel symbols [htm.kallsyms of the recording]")
      ->type_name("FILE");
  app.add_option("--elf", options.elf, "Symbols of a program, and its load address")
      ->type_name("FILE[@ADDRESS]")
      ->allow_extra_args(false);
}

void check(const SymbolOptions& options) {
  if (!options.elf.empty() && !can_read_elf()) {
    throw CLI::ValidationError("--elf", "htmtrace was built without libelf");
  }
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/traces/symbols.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
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

constexpr const char* kOneAtATime = "read one recording at a time, or pass --kallsyms FILE";

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

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return type_of_file(path) == std::filesystem::file_type::directory ? path : path.parent_path();
}

// Returns the file that `record` saved in the folder of the trace, or in the folder above a
// numbered folder. Returns an empty string if it does not exist. Other folders above, such as /tmp,
// may have files of strangers.
std::string recorded_file(const std::filesystem::path& path, const char* name) {
  namespace fs = std::filesystem;
  if (path == "-") return {};
  const fs::path folder = folder_of(path);
  std::vector<fs::path> places = {folder / name};
  if (is_numbered(folder)) places.push_back(folder / ".." / name);
  for (const fs::path& file : places) {
    if (type_of_file(file) == fs::file_type::regular) return file.string();
  }
  return {};
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code failure;
  return a == b || std::filesystem::equivalent(a, b, failure);
}

// Returns the distinct results of recorded_file(), with an empty string if a path has no file.
// DIR/0001/../NAME and DIR/0002/../NAME are one file.
std::vector<std::string> recorded_files(const std::vector<std::string>& paths, const char* name) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    const std::string file = recorded_file(path, name);
    const bool is_known = std::ranges::any_of(
        files, [&](const std::string& other) { return is_same_file(file, other); });
    if (!is_known) files.push_back(file);
  }
  return files;
}

ProgramMaps program_maps_of(const std::string& maps_file) {
  if (maps_file.empty()) return {};
  return with_text(maps_file, kMostPagesBytes,
                   [](std::string_view text) { return parse_program_maps(text); });
}

// The addresses of programs differ between recordings, so the maps of several recordings give no
// names.
ProgramMaps load_program_maps(const std::vector<std::string>& paths, bool quiet) {
  const std::vector<std::string> files = recorded_files(paths, kMapsName);
  if (files.size() > 1) {
    if (!quiet) {
      print_note(
          "several recordings: only --elf gives names of programs (with FILE@ADDRESS for a "
          "position-independent program)");
    }
    return {};
  }
  ProgramMaps maps = program_maps_of(files.empty() ? "" : files.front());
  if (maps.malformed != 0) {
    print_warning(fmt::format("cannot parse {} of {}; skipped them",
                              counted(maps.malformed, "line"), files.front()));
  }
  return maps;
}

// Reads the pages of the recording of `path`, if it has any. `known` must outlive the result.
PageNames read_pages(const std::string& path, const SymbolTable& known) {
  PageNames names(known);
  const std::string file = recorded_file(path, kPagesName);
  if (file.empty()) return names;
  const size_t malformed =
      with_text(file, kMostPagesBytes, [&](std::string_view text) { return names.add_file(text); });
  if (malformed != 0) {
    print_warning(
        fmt::format("cannot parse {} of {}; skipped them", counted(malformed, "line"), file));
  }
  return names;
}

// Returns false if the file adds no symbols.
bool read_kallsyms(const std::string& file, SymbolTable& table) {
  size_t text_bytes = 0;
  const KallsymsReport report = with_text(file, kMostKallsymsBytes, [&](std::string_view text) {
    text_bytes = text.size();
    return add_kallsyms(text, table);
  });
  if (report.symbols == 0 && text_bytes != 0) {
    print_warning(fmt::format("{} has no addresses{}", file,
                              report.hidden != 0 ? ": copy /proc/kallsyms as root"
                                                 : ": is it a copy of /proc/kallsyms?"));
  } else if (report.malformed != 0) {
    print_warning(fmt::format("{} has {}", file, counted(report.malformed, "malformed line")));
  }
  return report.symbols != 0;
}

// The recordings can be of different boots, so only the symbols that all of them have give names.
void load_common_kernel(const std::vector<std::string>& files, SymbolTable& table) {
  bool differs = false;
  for (const std::string& file : files) {
    SymbolTable other;
    const bool is_first = &file == &files.front();
    if (file.empty() || !read_kallsyms(file, is_first ? table : other)) {
      table = SymbolTable();
      print_warning(
          "kernel code has no names: some of the recordings have no symbols of the kernel",
          kOneAtATime);
      return;
    }
    if (is_first) continue;
    try {
      differs = table.keep_common(other) || differs;
    } catch (const Error& error) {
      throw error.about("cannot use " + file);
    }
    if (table.empty()) break;
  }
  if (differs) {
    print_warning(
        "the kernel's symbols differ between the recordings: only symbols with the same address in "
        "all of them give names",
        kOneAtATime);
  }
}

void load_kernel(const SymbolOptions& options, const std::vector<std::string>& paths,
                 SymbolTable& table) {
  const std::vector<std::string> files = options.kallsyms.empty()
                                             ? recorded_files(paths, kKallsymsName)
                                             : std::vector<std::string>{options.kallsyms};
  if (files.size() > 1) return load_common_kernel(files, table);
  if (!files.empty() && !files.front().empty()) read_kallsyms(files.front(), table);
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
    const ProgramMaps maps = program_maps_of(recorded_file(path, kMapsName));
    const std::vector<std::string> usable = usable_files(maps);
    files.insert(files.end(), usable.begin(), usable.end());
  }
  return files;
}

RecordedSymbols::RecordedSymbols(const SymbolOptions& options,
                                 const std::vector<std::string>& paths, const SymbolLoading& how)
    : how_(how) {
  load_kernel(options, paths, table_);
  const ProgramMaps maps = can_read_elf() ? load_program_maps(paths, how.quiet) : ProgramMaps{};
  for (const std::string& file : options.elf) add_elf(file, maps, table_);
  add_recorded_files(maps, files_of(options), table_);
  table_.finish();
  has_several_ = recorded_files(paths, kPagesName).size() > 1;
  needs_owners_ = how.owners || !table_.programs().empty();
}

bool RecordedSymbols::enter(const std::string& path) {
  if (!needs_owners_) return false;
  const std::string file = recorded_file(path, kPagesName);
  if (entered_ && is_same_file(*entered_, file)) return false;
  const SymbolTable none;
  PageNames names = read_pages(path, none);
  entered_ = file;
  const std::string folder = folder_of(path).string();
  current_ = "the recording" + (!has_several_ ? "" : " in " + (folder.empty() ? "." : folder));
  const bool has_pages = !names.processes().empty();
  table_.set_pages(has_pages ? names.take_owners() : PageOwners());
  if (!has_pages) {
    const std::string note = fmt::format(
        "names that end with ? are not proven: {} has no pages of programs (record as root to save "
        "them)",
        current_);
    if (!how_.quiet && !table_.programs().empty() && is_new(note)) print_note(note);
    return true;
  }
  for (const SymbolTable::Program& program : table_.programs()) {
    if (program.number != PageOwners::kNone) continue;
    warn_once(
        fmt::format("cannot prove the names of {}: {} has no pages of this file, or several files "
                    "have this name; its names end with ?",
                    program.file, current_));
  }
  return true;
}

void RecordedSymbols::warn_once(const std::string& text) {
  if (is_new(text)) print_warning(text);
}

PageOwners load_page_owners(const std::string& path) {
  const SymbolTable none;
  return read_pages(path, none).take_owners();
}

RecordedProcesses load_processes(const std::string& path) {
  const SymbolTable none;
  PageNames names = read_pages(path, none);
  RecordedProcesses recorded{.processes = names.processes()};
  recorded.has_provable = names.take_owners().has_provable();
  return recorded;
}

PageNames load_page_names(const SymbolOptions& options, const std::vector<std::string>& paths,
                          const SymbolTable& known) {
  if (recorded_files(paths, kPagesName).size() > 1) {
    print_warning("the memory of programs has no names: the traces are of several recordings",
                  "read one recording at a time");
    return PageNames(known);
  }
  PageNames names = read_pages(paths.front(), known);
  if (names.processes().empty()) return names;
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
    const std::string maps = recorded_file(path, file);
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

// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/symbols/page_names.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/plain_text.h"
#include "output/symbols/elf_symbols.h"

namespace htmtrace {
namespace {

// The address at which Linux maps all memory for itself on 64-bit POWER: PAGE_OFFSET in
// arch/powerpc/include/asm/page.h.
constexpr uint64_t kKernelBegin = 0xc000000000000000;
// Of a text on the heap, in addition to its characters.
constexpr uint64_t kTextBytes = 32;
// fs/proc/array.c, proc_task_name(): Linux shows at most 63 characters of a command.
constexpr size_t kMostCommand = 63;
constexpr size_t kMostCommandBytes = 4 * kMostCommand;  // a control character as \x..

// Removes a number from the front of `text`.
std::optional<uint64_t> take_digits(std::string_view& text, int base) {
  uint64_t value = 0;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (failure != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(stop - text.data()));
  return value;
}

// Removes a number and the following blanks from the front of `text`.
std::optional<uint64_t> take_number(std::string_view& text, int base) {
  const auto value = take_digits(text, base);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return value;
}

// Removes a word and the following blanks from the front of `text`.
std::string_view take_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return word;
}

bool same_file(const std::string& path, uint64_t inode) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_ino == inode;
}

}  // namespace

size_t PageNames::add_file(std::string_view text) {
  budget_.add_input(text.size());
  size_t lines = 0;
  for (size_t at = 0; (at = text.find("\n ", at)) != std::string_view::npos; at++) lines++;
  budget_.take(lines * (sizeof(Run) + sizeof(PageOwners::Run)));
  runs_.reserve(runs_.size() + lines);
  owners_.reserve_runs(lines);
  size_t malformed = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.empty() && !add_line(line)) malformed++;
  }
  sort_runs();
  return malformed;
}

bool PageNames::add_line(std::string_view line) {
  if (line.starts_with("# pid ")) return add_process(line.substr(6));
  if (line == "# only owner" && !processes_.empty()) {
    owners_.set_provable(static_cast<uint32_t>(processes_.size() - 1));
  }
  if (line.starts_with('#')) return true;
  return line.starts_with(' ') ? add_run(line.substr(1)) : add_mapping(line);
}

// Parses "PID START MILLISECONDS COMMAND".
bool PageNames::add_process(std::string_view line) {
  const auto pid = take_number(line, 10);
  const auto start = take_number(line, 10);
  const auto seen = take_digits(line, 10);
  if (!pid || !start || !seen) return false;
  line.remove_prefix(line.starts_with(' ') ? 1 : 0);  // further blanks belong to the command
  line = line.substr(0, kMostCommand);
  budget_.take(grown_bytes<Process>() + PageOwners::kProcessBytes +
               4 * (kTextBytes + kMostCommandBytes));
  std::string command = without_controls(line);
  owners_.add_process(htmtrace::Process::of(*pid, command));
  processes_.push_back({.pid = *pid,
                        .seen_ms = *seen,
                        .command = std::move(command),
                        .mappings = {},
                        .objects = {}});
  return true;
}

// Parses a line in the format of /proc/PID/maps: "BEGIN-END PERMISSIONS OFFSET DEVICE INODE PATH".
bool PageNames::add_mapping(std::string_view line) {
  const auto begin = take_number(line, 16);
  if (!begin || processes_.empty() || !line.starts_with('-')) return false;
  line.remove_prefix(1);
  const auto end = take_number(line, 16);
  if (!end || *end <= *begin) return false;
  const std::string_view permissions = take_word(line);
  const auto offset = take_number(line, 16);
  take_word(line);
  const auto inode = take_number(line, 10);
  if (!offset || !inode) return false;
  budget_.take(grown_bytes<Mapping>() + kTextBytes + line.size());
  processes_.back().mappings.push_back(
      {.begin = *begin,
       .end = *end,
       .offset = *offset,
       .inode = *inode,
       .path = std::string(line),
       .is_code = permissions.find('x') != std::string_view::npos});
  if (line == "[stack]") {
    owners_.set_stack_end(static_cast<uint32_t>(processes_.size() - 1), *end);
  }
  if (!line.starts_with('/')) return true;
  budget_.take(PageOwners::kFileBytes + line.size());
  const uint32_t file = owners_.file_number(std::string(line), *inode);
  if (processes_.back().pid == 0) {
    owners_.set_listed(file);
  } else {
    owners_.add_mapping(static_cast<uint32_t>(processes_.size() - 1), file);
  }
  return true;
}

// Parses "EFFECTIVE LOGICAL BYTES", and " own" if only the process has mapped these pages.
bool PageNames::add_run(std::string_view line) {
  const auto ea = take_number(line, 16);
  const auto la = take_number(line, 16);
  const auto size = take_number(line, 16);
  if (!ea || !la || !size || *size == 0 || *la + (*size - 1) < *la) return false;
  if (processes_.empty() || processes_.back().mappings.empty()) return false;
  const Process& process = processes_.back();
  const Mapping& mapping = process.mappings.back();
  PageOwners::Run run{.la = *la, .size_bytes = *size, .ea = *ea};
  run.own = line == "own";
  if (mapping.path.starts_with('/')) {
    run.file = owners_.file_number(mapping.path, mapping.inode);
  }
  if (process.pid != 0) run.process = static_cast<uint32_t>(processes_.size() - 1);
  owners_.add(run);
  if (process.pid == 0) return true;  // pages of a file, without a process
  runs_.push_back({.la = *la,
                   .size_bytes = *size,
                   .ea = *ea,
                   .process = static_cast<uint32_t>(processes_.size() - 1),
                   .mapping = static_cast<uint32_t>(processes_.back().mappings.size() - 1)});
  return true;
}

// Processes share memory. The process that started first, or was found first, names a shared page.
void PageNames::sort_runs() {
  std::ranges::sort(runs_, {}, [](const Run& run) {
    return std::tuple(run.la, run.process, run.mapping, run.ea);
  });
  auto last = runs_.end();
  auto to = runs_.begin();
  for (Run run : runs_) {
    if (last != runs_.end()) {
      const uint64_t used = last->la + (last->size_bytes - 1);
      if (used >= run.la) {
        const uint64_t covered = used - run.la + 1;
        if (covered >= run.size_bytes) continue;
        run = {.la = run.la + covered,
               .size_bytes = run.size_bytes - covered,
               .ea = run.ea + covered,
               .process = run.process,
               .mapping = run.mapping};
      }
    }
    *to = run;
    last = to++;
  }
  runs_.erase(to, runs_.end());
}

PageOwners PageNames::take_owners() {
  owners_.finish();
  return std::move(owners_);
}

size_t PageNames::add_symbols(const std::vector<std::filesystem::path>& files) {
  for (Process& process : processes_) {
    if (process.pid == 0) continue;  // no process, but files
    // Each file's load address is the begin of its lowest mapping.
    std::map<std::string_view, const Mapping*> objects;
    for (const Mapping& mapping : process.mappings) {
      if (mapping.path.starts_with('/')) objects.try_emplace(mapping.path, &mapping);
    }
    for (const auto& [path, mapping] : objects) {
      const std::filesystem::path object(path);
      const auto given = std::find_if(files.begin(), files.end(), [&](const auto& file) {
        return file.filename() == object.filename();
      });
      if (given == files.end() && (!can_read_elf() || !same_file(mapping->path, mapping->inode))) {
        continue;
      }
      const auto symbols = symbols_of(given == files.end() ? object : *given);
      if (symbols) process.objects.push_back({.begin = mapping->begin, .symbols = *symbols});
    }
  }
  return files_without_room_;
}

// Reads the file when the first process has it. Returns nothing for a file without symbols.
std::optional<size_t> PageNames::symbols_of(const std::filesystem::path& file) {
  const auto [known, added] = known_files_.try_emplace(file);
  if (!added) return known->second;
  SymbolTable table;
  // All files together have one budget.
  table.budget() = budget_;
  try {
    add_elf_symbols(file, /*loaded_at=*/0, table);
  } catch (const Error&) {
    // Data, fonts or a stripped program are not a defect of the recording.
    if (table.budget().exceeded()) files_without_room_++;
    return std::nullopt;
  }
  table.finish();
  budget_ = table.budget();
  symbols_.push_back(std::move(table));
  known->second = symbols_.size() - 1;
  return known->second;
}

std::string PageNames::name(LogicalAddr address) const {
  auto after = std::upper_bound(runs_.begin(), runs_.end(), address.value,
                                [](uint64_t value, const Run& run) { return value < run.la; });
  if (after != runs_.begin()) {
    const Run& run = *--after;
    if (address.value - run.la < run.size_bytes) return name(run, address);
  }
  const uint64_t kernel = kKernelBegin | address.value;
  const SymbolTable::Symbol* symbol = known_.find_unowned({kernel});
  return symbol == nullptr ? "" : symbol_text(*symbol, kernel);
}

// Sets `at` to the distance of `ea` from the begin of the symbol's file.
const SymbolTable::Symbol* PageNames::symbol_of(const Process& process, uint64_t ea,
                                                uint64_t& at) const {
  for (const Object& object : process.objects) {
    if (ea < object.begin) continue;
    const SymbolTable::Symbol* const symbol = symbols_[object.symbols].find({ea - object.begin});
    if (symbol == nullptr) continue;
    at = ea - object.begin;
    return symbol;
  }
  return nullptr;
}

std::string PageNames::name(const Run& run, LogicalAddr address) const {
  const Process& process = processes_[run.process];
  const uint64_t ea = run.ea + (address.value - run.la);
  uint64_t at = ea;
  const SymbolTable::Symbol* symbol = symbol_of(process, ea, at);
  if (symbol == nullptr) symbol = known_.find_unowned({ea});
  if (symbol != nullptr) return process.command + ": " + symbol_text(*symbol, at);
  const Mapping& mapping = process.mappings[run.mapping];
  if (mapping.path.empty()) return fmt::format("{}: {:x}", process.command, ea);
  const uint64_t offset = ea - mapping.begin + mapping.offset;
  const std::string file =
      without_controls(std::filesystem::path(mapping.path).filename().string());
  return fmt::format("{}: {}+{:#x}", process.command, file, offset);
}

std::string describe(const PageNames& names) {
  uint64_t earliest = ~uint64_t{0}, latest = 0;
  size_t count = 0;
  for (const PageNames::Process& process : names.processes()) {
    if (process.pid == 0) continue;
    earliest = std::min(earliest, process.seen_ms);
    latest = std::max(latest, process.seen_ms);
    count++;
  }
  if (count == 0) return {};
  return fmt::format("names of memory by the maps of {}, saved {} to {} ms after the trace began\n",
                     counted(count, "process"), earliest, latest);
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/traces/selection_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <vector>

#include "cli/help.h"
#include "cli/messages.h"
#include "cli/number_from.h"
#include "cli/units.h"

namespace htmtrace {
namespace {

std::optional<uint64_t> parse_number(std::string_view text, int base) {
  if (base == 16 && (text.starts_with("0x") || text.starts_with("0X"))) text.remove_prefix(2);
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value, base);
  if (failure != std::errc{} || stop != end) return std::nullopt;
  return value;
}

// A size with a unit ("4K") is decimal. A size without a unit is hexadecimal, like an address.
std::optional<uint64_t> parse_length(std::string_view text) {
  const bool unit = !text.empty() && std::string_view("KkMmGg").find(text.back()) != text.npos;
  return unit ? parse_size(text) : parse_number(text, 16);
}

void add_ranges(CLI::App& app, const char* option, Selection::Ranges& ranges,
                const std::string& of_what) {
  app.add_option_function<std::vector<std::string>>(
         option,
         [&ranges, option](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             const auto range = parse_range(text);
             if (!range) {
               throw CLI::ValidationError(option,
                                          fmt::format("{} is not an address range: use FIRST-LAST, "
                                                      "START+SIZE or ADDRESS, in hexadecimal",
                                                      text));
             }
             ranges.push_back(*range);
           }
         },
         fmt::format("Select by {}", of_what))
      ->type_name("RANGE")
      ->allow_extra_args(false);
}

// Converts names, separated by commas, to a set of their indexes in `names`.
template <size_t N>
void add_names(CLI::App& app, const char* option, uint32_t& set,
               const std::array<std::string_view, N>& names, const std::string& purpose) {
  std::string all;
  for (size_t i = 1; i < N; i++) {
    all += all.empty() ? "" : ", ";
    all += names[i];
  }
  app.add_option_function<std::vector<std::string>>(
         option,
         [&set, &names, option, all](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             size_t place = 1;  // 0 is "unknown"
             while (place < N && names[place] != text) place++;
             if (place == N) {
               throw CLI::ValidationError(option, fmt::format("{} is not one of {}", text, all));
             }
             set |= 1U << place;
           }
         },
         purpose + ": " + all)
      ->type_name("NAME,...")
      ->delimiter(',')
      ->allow_extra_args(false);
}

// Adds the values to `names`, and sets `by_name`.
void add_symbols(CLI::App& app, const char* option, std::vector<std::string>& names, bool& by_name,
                 const char* type, const char* purpose) {
  app.add_option_function<std::vector<std::string>>(
         option,
         [&names, &by_name](const std::vector<std::string>& texts) {
           names.insert(names.end(), texts.begin(), texts.end());
           by_name = true;
         },
         purpose)
      ->type_name(type)
      ->allow_extra_args(false);
}

// Parses FIRST-LAST or FIRST-, in decimal.
void add_window(CLI::App& app, const char* option, AddressRange& window, const char* what,
                const char* purpose) {
  app.add_option_function<std::string>(
         option,
         [&window, option, what](const std::string& text) {
           const size_t dash = text.find('-');
           const auto first = parse_number(std::string_view(text).substr(0, dash), 10);
           const std::string_view rest =
               dash == std::string::npos ? "" : std::string_view(text).substr(dash + 1);
           const auto last = rest.empty() ? std::optional(Selection::kAny) : parse_number(rest, 10);
           if (!first || !last || dash == std::string::npos || *last < *first) {
             throw CLI::ValidationError(
                 option, fmt::format("{} is not a {}: use FIRST-LAST or FIRST-", text, what));
           }
           window = {*first, *last};
         },
         purpose)
      ->type_name("FIRST-LAST");
}

}  // namespace

std::optional<AddressRange> parse_range(std::string_view text) {
  const size_t mark = text.find_first_of("-+");
  const auto first = parse_number(text.substr(0, mark), 16);
  if (!first) return std::nullopt;
  if (mark == std::string_view::npos) return AddressRange{*first, *first};
  const std::string_view rest = text.substr(mark + 1);
  if (text[mark] == '-') {
    const auto last = parse_number(rest, 16);
    if (!last || *last < *first) return std::nullopt;
    return AddressRange{*first, *last};
  }
  const auto size = parse_length(rest);
  if (!size || *size == 0 || *size - 1 > std::numeric_limits<uint64_t>::max() - *first) {
    return std::nullopt;
  }
  return AddressRange{*first, *first + (*size - 1)};
}

void declare_selection(CLI::App& app, Selection& selection, NameOptions& names,
                       std::vector<std::string>& processes) {
  app.option_defaults()->group(kSelectionGroup);
  add_ranges(app, "--ea", selection.ea, "effective address of the instruction");
  add_ranges(app, "--ra", selection.ra, "real address of the instruction");
  add_ranges(app, "--la", selection.la, "logical address of the instruction");
  add_ranges(app, "--dea", selection.data_ea, "effective address of its data");
  add_ranges(app, "--dra", selection.data_ra, "real address of its data");
  add_ranges(app, "--dla", selection.data_la, "logical address of its data");
  add_symbols(app, "--function", names.functions, selection.by_name, "NAME",
              "Select by function: NAME, NAME+OFFSET, FIRST..LAST");
  add_symbols(app, "--data", names.objects, selection.data_by_name, "NAME",
              "Select by the object that it accesses, as --function");
  add_symbols(app, "--code", names.files, selection.by_name, "FILE",
              "Select by program, library or kernel module");
  add_symbols(app, "--process", processes, selection.by_process, "NAME|PID",
              "Select by process; also kernel, unknown");
  add_names(app, "--privilege", selection.privileges, kPrivilegeNames, "Select by privilege");
  add_names(app, "--class", selection.classes, kInstructionClassNames, "Select by class");
  add_window(app, "--instructions", selection.numbers, "range of instructions",
             "Select by number in the trace, counted from 0");
  add_window(app, "--ticks", selection.ticks, "window of time",
             "Select by elapsed ticks since the trace began");
  app.add_option("--from-mark", selection.from_mark, "Start after the first mark of value N")
      ->type_name("N");
  app.add_option("--to-mark", selection.to_mark, "End at the next mark of value N")->type_name("N");
  app.add_option("--every", selection.every, "Keep one of every N selected instructions")
      ->type_name("N")
      ->check(number_from(1))
      ->default_str("");
  auto* first = app.add_option("--first", selection.first, "Keep only the first N of each trace")
                    ->type_name("N")
                    ->check(number_from(0))
                    ->default_str("");
  app.add_option("--last", selection.last, "Keep only the last N of each trace")
      ->type_name("N")
      ->check(number_from(0))
      ->default_str("")
      ->excludes(first);
}

// OpenPOWER ELF V2 ABI, 3.4.1: a function that needs a TOC pointer has a global entry, which nm
// prints, and a local entry for callers that have the pointer already.
void warn_if_never_entered(const Selection& selection, uint64_t selected,
                           const std::string& trace) {
  if (selected != 0) return;
  const auto single =
      std::find_if(selection.ea.begin(), selection.ea.end(),
                   [](const AddressRange& range) { return range.first == range.last; });
  if (single == selection.ea.end()) return;
  print_warning(
      fmt::format("{} has no selected instruction at {:x}", trace, single->first),
      fmt::format("local callers enter a function 8 bytes after the address that nm prints; "
                  "select the whole function: --ea {:x}+SIZE (nm -S prints SIZE)",
                  single->first));
}

}  // namespace htmtrace

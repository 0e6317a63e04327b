// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/report/edge_report.h"

#include <fmt/core.h>

#include "cli/messages.h"
#include "cli/traces/lines.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "output/source_report/compiler_profile.h"
#include "output/source_report/coverage.h"
#include "output/source_report/lcov_file.h"

namespace htmtrace {
namespace {

void warn_of_empty_profile(const CodeFiles::File& file, const char* missing) {
  print_warning(fmt::format("the profile is empty: the traces have no {} {}", missing, file.path));
}

}  // namespace

EdgeReport::EdgeReport(const ReportOptions& options, const SymbolTable& symbols)
    : options_(options), symbols_(symbols), edges_(symbols) {
  if (options.is_lcov()) check_lines(symbols);
}

void EdgeReport::put(TextOutput& output) const {
  if (options_.is_lcov()) {
    put_coverage(output);
  } else if (options_.format == ReportFormat::kLlvmProfile) {
    put_llvm_profile(output);
  } else {
    put_call_order(output);
  }
  if (edges_.without_address() != 0) {
    note(fmt::format("not counted: {} without a known address",
                     counted(edges_.without_address(), "instruction")));
  }
}

void EdgeReport::put_coverage(TextOutput& output) const {
  const SourceCoverage found = coverage_of(edges_, symbols_, folders_of(options_.lines));
  warn_of_lines(found.problems);
  if (found.sources.empty()) {
    throw Error("cannot report coverage: no program file has source lines")
        .hint("compile with -g, or pass --debug-dir DIR");
  }
  const LcovTotals totals = write_lcov(found, output);
  note(fmt::format("executed: {} of {}, {} of {}, {} of {}", totals.executed_lines,
                   counted(totals.lines, "line"), totals.executed_functions,
                   counted(totals.functions, "function"), totals.executed_directions,
                   counted(totals.directions, "branch direction")));
  if (totals.executed_lines == 0) {
    print_warning("no line was executed: the traces have no instructions in the program files");
  }
  if (found.unknown_outcomes != 0) {
    note(fmt::format("not counted: {} with an unknown direction",
                     counted(found.unknown_outcomes, "branch execution")));
  }
}

void EdgeReport::put_llvm_profile(TextOutput& output) const {
  const CodeFiles::File& file = chosen_program();
  const LlvmProfileTotals totals = write_llvm_profile(edges_, file, symbols_, output);
  note(fmt::format("{}: {} executed in {}, {} in {}", file.path,
                   counted(totals.words, "instruction word"), counted(totals.lines, "cache line"),
                   counted(totals.taken, "taken branch"), counted(totals.branches, "place")));
  if (totals.ranges == 0) warn_of_empty_profile(file, "instructions in");
}

void EdgeReport::put_call_order(TextOutput& output) const {
  const CodeFiles::File& file = chosen_program();
  const auto [pairs, omitted] = write_call_order(edges_, file, symbols_, output);
  note(fmt::format("{}: {} of a caller and a callee", file.path, counted(pairs, "pair")));
  if (omitted != 0) {
    note(fmt::format("omitted: {} of functions with a blank in their name",
                     counted(omitted, "call")));
  }
  if (pairs == 0) warn_of_empty_profile(file, "calls within");
}

// The file that --program names, or the only file.
const CodeFiles::File& EdgeReport::chosen_program() const {
  const std::vector<CodeFiles::File>& files = edges_.files().files();
  const std::string& wanted = options_.program;
  std::vector<const CodeFiles::File*> fitting;
  for (const CodeFiles::File& file : files) {
    if (wanted.empty() || file.path == wanted || file.path.ends_with("/" + wanted)) {
      fitting.push_back(&file);
    }
  }
  if (fitting.size() == 1) return *fitting.front();
  if (files.empty()) {
    throw Error("cannot write a profile: no program file found")
        .hint("pass --elf PROGRAM, or record with --symbols");
  }
  if (fitting.empty()) {
    throw Error(fmt::format("cannot write a profile: none of {} is {}",
                            counted(files.size(), "program file"), wanted))
        .hint("such as --program " + files.front().path);
  }
  throw Error(fmt::format("cannot write a profile of {}: a profile has one",
                          counted(fitting.size(), "program file")))
      .hint("such as --program " + fitting.front()->path);
}

void EdgeReport::note(const std::string& text) const {
  if (!options_.traces.quiet) print_note(text);
}

}  // namespace htmtrace

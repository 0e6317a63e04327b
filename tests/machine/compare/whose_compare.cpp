// SPDX-License-Identifier: GPL-2.0-or-later
// Compares the process that htmtrace finds for each instruction with the process that executed it.
//
//   whose-compare ORACLE SESSION TEXT PERCENT [COMMAND:PROCESS...]
//
// SESSION is the number of a START in the oracle, from 1. TEXT is the output of
// `htmtrace decode --fields ea,process`. The oracle has the process of user code from the memory of
// the guest's kernel (key `task` of the machine's configuration). A process executes code of its
// parent's program before its own, so only the processes that are named here have a known command.
//
// Exit status 0: no instruction has a wrong process, at most PERCENT of all instructions are
// unknown, and each named process has instructions that htmtrace finds.
#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tests/machine/compare/line_reader.h"
#include "tests/machine/compare/oracle_reader.h"

namespace {

using htmtrace::compare::LineReader;
using htmtrace::compare::OracleInstruction;
using htmtrace::compare::OracleReader;

// The number at the end of COMMAND:PROCESS; 0 for other texts.
uint32_t process_of(std::string_view name) {
  const std::string_view digits = name.substr(name.rfind(':') + 1);
  uint32_t process = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), process);
  return error == std::errc() && end == digits.end() ? process : 0;
}

class Comparison {
 public:
  void need(std::string_view name) {
    const uint32_t process = process_of(name);
    if (process == 0) throw std::runtime_error(fmt::format("{} has no process", name));
    needed_[process] = name;
  }

  void compare(const OracleInstruction& truth, std::string_view found) {
    all_++;
    if (!truth.user) {
      kernel_++;
      if (found != "kernel") wrong(found, "kernel");
      return;
    }
    if (truth.process == 0) throw std::runtime_error("the oracle lacks the process of user code");
    if (found == "unknown") {
      unknown_[truth.process]++;
      unknown_in_all_++;
      return;
    }
    const auto needed = needed_.find(truth.process);
    if (process_of(found) == truth.process &&
        (needed == needed_.end() || needed->second == found)) {
      right_[truth.process]++;
    } else {
      wrong(found, fmt::format("process {}", truth.process));
    }
  }

  bool passes(double percent) const {
    const double share = 100 * static_cast<double>(unknown_in_all_) / static_cast<double>(all_);
    fmt::print("{} instructions: {} kernel, {} wrong, {} unknown ({:.4f}%)\n", all_, kernel_,
               wrong_, unknown_in_all_, share);
    for (const auto& [process, count] : right_) fmt::print("  {}: {} right\n", process, count);
    for (const auto& [process, count] : unknown_) fmt::print("  {}: {} unknown\n", process, count);
    for (const auto& [what, count] : examples_) fmt::print("  {}: {}\n", what, count);
    bool has_needed = true;
    for (const auto& [process, name] : needed_) has_needed &= right_.contains(process);
    return all_ != 0 && wrong_ == 0 && share <= percent && has_needed;
  }

 private:
  void wrong(std::string_view found, std::string_view truth) {
    wrong_++;
    examples_[fmt::format("WRONG: {} for {}", found, truth)]++;
  }

  std::map<uint32_t, std::string> needed_;        // by process
  std::map<uint32_t, uint64_t> right_, unknown_;  // by process
  std::map<std::string, uint64_t> examples_;
  uint64_t all_ = 0, kernel_ = 0, wrong_ = 0, unknown_in_all_ = 0;
};

void compare_files(const char* oracle, uint64_t session, const char* text, Comparison* comparison) {
  OracleReader reader(oracle);
  LineReader lines(text);
  OracleInstruction instruction;
  std::string_view line;
  while (reader.next_of(session, session, &instruction)) {
    if (!lines.next(&line)) throw std::runtime_error("the text ends before the oracle");
    const size_t tab = line.find('\t');
    if (tab == line.npos || line.substr(0, tab) != fmt::format("{:016x}", instruction.ea)) {
      throw std::runtime_error(fmt::format("line {} is not the instruction at {:016x}: {}",
                                           lines.number(), instruction.ea, line));
    }
    comparison->compare(instruction, line.substr(tab + 1));
  }
  if (lines.next(&line)) throw std::runtime_error("the oracle ends before the text");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    fmt::print(stderr, "usage: whose-compare ORACLE SESSION TEXT PERCENT [COMMAND:PROCESS...]\n");
    return 2;
  }
  try {
    Comparison comparison;
    for (int i = 5; i < argc; i++) comparison.need(argv[i]);
    compare_files(argv[1], std::strtoull(argv[2], nullptr, 10), argv[3], &comparison);
    return comparison.passes(std::strtod(argv[4], nullptr)) ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "whose-compare: {}\n", error.what());
    return 1;
  }
}

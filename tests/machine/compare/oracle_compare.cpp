// SPDX-License-Identifier: GPL-2.0-or-later
// Does a decoded trace say what the processor did?
//
//   oracle-compare [--suffix] ORACLE DECODED.txt
//
// DECODED is the text of `htmtrace decode`, "-" for standard input. Exit status 0: each instruction
// is equal, in order, in effective address, instruction words, logical address, and data addresses.
// --suffix: the trace wrapped, so the text is the end of what the oracle holds.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <exception>
#include <string>

#include "tests/machine/compare/line_reader.h"
#include "tests/machine/compare/oracle_reader.h"

namespace {

using htmtrace::compare::expected_line;
using htmtrace::compare::LineReader;
using htmtrace::compare::OracleInstruction;
using htmtrace::compare::OracleReader;

constexpr size_t kContextLines = 3;

// The line without the fields ra= and dra=, which the oracle does not have.
std::string without_machine_addresses(std::string_view line) {
  std::string kept;
  while (!line.empty()) {
    const size_t end = std::min(line.find(' '), line.size());
    const std::string_view field = line.substr(0, end);
    if (!field.starts_with("ra=") && !field.starts_with("dra=")) {
      if (!kept.empty()) kept += ' ';
      kept += field;
    }
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return kept;
}

uint64_t count_lines(const char* path) {
  LineReader reader(path);
  std::string_view line;
  while (reader.next(&line)) {
  }
  return reader.number();
}

uint64_t count_instructions(const char* path) {
  OracleReader oracle(path);
  OracleInstruction instruction;
  uint64_t count = 0;
  while (oracle.next(&instruction)) count++;
  return count;
}

class Comparison {
 public:
  Comparison(const char* oracle_path, const char* text_path)
      : oracle_(oracle_path), text_(text_path) {}

  // Pass over the instructions that the trace no longer holds.
  void skip(uint64_t count) {
    for (uint64_t i = 0; i < count; i++) oracle_.next(&instruction_);
  }

  bool run() {
    for (;;) {
      const bool expect = oracle_.next(&instruction_);
      std::string_view line;
      const bool got = text_.next(&line);
      if (!expect && !got) break;
      const std::string expected = expect ? expected_line(instruction_) : "(end)";
      const std::string decoded = got ? without_machine_addresses(line) : "(end)";
      if (expected != decoded) {
        report(expected, decoded);
        return false;
      }
      remember(expected);
      equal_++;
    }
    fmt::print("{} instructions equal", equal_);
    if (oracle_.sessions() > 1) fmt::print(", in {} sessions", oracle_.sessions());
    if (oracle_.lost() != 0) fmt::print(", {} more not traced (buffer full)", oracle_.lost());
    fmt::print("\n");
    return equal_ != 0;
  }

 private:
  void remember(const std::string& line) {
    context_.push_back(line);
    if (context_.size() > kContextLines) context_.pop_front();
  }

  void report(const std::string& expected, const std::string& decoded) {
    fmt::print("instruction {} differs (line {} of the text)\n", equal_ + 1, text_.number());
    for (const std::string& line : context_) fmt::print("  equal    {}\n", line);
    fmt::print("  oracle   {}\n  decoded  {}\n", expected, decoded);
    for (size_t i = 0; i < kContextLines && oracle_.next(&instruction_); i++) {
      fmt::print("  oracle   {}\n", expected_line(instruction_));
    }
    std::string_view line;
    for (size_t i = 0; i < kContextLines && text_.next(&line); i++) {
      fmt::print("  decoded  {}\n", without_machine_addresses(line));
    }
  }

  OracleReader oracle_;
  LineReader text_;
  OracleInstruction instruction_{};
  std::deque<std::string> context_;
  uint64_t equal_ = 0;
};

int compare(const char* oracle_path, const char* text_path, bool suffix) {
  Comparison comparison(oracle_path, text_path);
  if (suffix) {
    const uint64_t executed = count_instructions(oracle_path);
    const uint64_t decoded = count_lines(text_path);
    if (decoded > executed) {
      fmt::print("the text has {} instructions, the oracle only {}\n", decoded, executed);
      return 1;
    }
    comparison.skip(executed - decoded);
  }
  return comparison.run() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const bool suffix = argc == 4 && std::strcmp(argv[1], "--suffix") == 0;
  if (argc != (suffix ? 4 : 3) || (suffix && std::strcmp(argv[3], "-") == 0)) {
    std::fputs("usage: oracle-compare [--suffix] ORACLE DECODED.txt\n", stderr);
    return 2;
  }
  try {
    return compare(argv[argc - 2], argv[argc - 1], suffix);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "oracle-compare: %s\n", error.what());
    return 2;
  }
}

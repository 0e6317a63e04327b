// SPDX-License-Identifier: GPL-2.0-or-later
// Compares a decoded trace with the processor's execution.
//
// oracle-compare [--suffix] ORACLE DECODED.txt
//
// oracle-compare --parts ORACLE FIRST-LAST=DECODED.txt...
//
// oracle-compare --beginnings ORACLE FIRST-LAST=DECODED.txt...
//
// DECODED is the text of `htmtrace decode`, or "-" for standard input. Exit status 0: all
// instructions are equal and in order. This includes effective address, instruction words, logical
// address, and data addresses.
//
// --suffix: the trace wrapped, so the text is the end of the oracle's instructions.
//
// --parts: each text is a separate trace between two STARTs of the core, counted from 1 and in
// ascending order. A text may be empty, because the core may have slept.
//
// --beginnings: like --parts, for truncated traces. Each text may end early. Its last line is
// ignored, because its record may be truncated. A text without any logical address is right,
// because the memory map may not have been saved yet.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <deque>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tests/machine/compare/line_reader.h"
#include "tests/machine/compare/oracle_reader.h"

namespace {

using htmtrace::compare::expected_line;
using htmtrace::compare::LineReader;
using htmtrace::compare::OracleInstruction;
using htmtrace::compare::OracleReader;

constexpr size_t kContextLines = 3;

using Fields = std::array<std::string_view, 2>;

// The oracle lacks these.
constexpr Fields kMachineAddresses = {"ra=", "dra="};
constexpr Fields kLogicalAddresses = {"la=", "dla="};
constexpr std::string_view kUnknown = "----------------";

// Returns the line without these fields.
std::string without(const Fields& fields, std::string_view line) {
  std::string kept;
  while (!line.empty()) {
    const size_t end = std::min(line.find(' '), line.size());
    const std::string_view field = line.substr(0, end);
    const auto begins_field = [&](std::string_view name) { return field.starts_with(name); };
    if (std::ranges::none_of(fields, begins_field)) {
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

// Returns true if no line has a known logical address.
bool lacks_map(const char* path) {
  LineReader reader(path);
  std::string_view line;
  while (reader.next(&line)) {
    for (const std::string_view name : {" la=", " dla="}) {
      const size_t at = line.find(name);
      if (at == std::string_view::npos) continue;
      if (!line.substr(at + name.size()).starts_with(kUnknown)) return false;
    }
  }
  return true;
}

uint64_t count_instructions(const char* path) {
  OracleReader oracle(path);
  OracleInstruction instruction;
  uint64_t count = 0;
  while (oracle.next(&instruction)) count++;
  return count;
}

// The sessions of an oracle, each between two STARTs of the core.
struct Sessions {
  uint64_t first = 1;
  uint64_t last = UINT64_MAX;
};

// The part of the oracle's instructions that a text must contain.
enum class Extent { kAll, kBeginning };

class TraceComparison {
 public:
  TraceComparison(OracleReader& oracle, const std::string& text_path, Sessions sessions,
                  Extent extent)
      : oracle_(oracle),
        text_(text_path.c_str()),
        sessions_(sessions),
        lines_(extent == Extent::kAll ? UINT64_MAX : whole_lines(text_path.c_str())),
        unmapped_(extent == Extent::kBeginning && lacks_map(text_path.c_str())) {}

  // Skips the instructions that the trace no longer holds.
  void skip(uint64_t count) {
    for (uint64_t i = 0; i < count; i++) next_expected();
  }

  bool run() {
    for (;;) {
      if (equal_ == lines_) break;
      const bool expect = next_expected();
      std::string_view line;
      const bool got = text_.next(&line);
      if (!expect && !got) break;
      const std::string expected = expect ? oracle_line() : "(end)";
      const std::string decoded = got ? decoded_line(line) : "(end)";
      if (expected != decoded) {
        report(expected, decoded);
        return false;
      }
      remember(expected);
      equal_++;
    }
    fmt::print("{} instructions equal", equal_);
    if (sessions_.last != UINT64_MAX) {
      fmt::print(", of sessions {} to {}", sessions_.first, sessions_.last);
    } else if (oracle_.sessions() > 1) {
      fmt::print(", in {} sessions", oracle_.sessions());
    }
    if (oracle_.lost() != 0) fmt::print(", {} more not traced (buffer full)", oracle_.lost());
    fmt::print("\n");
    return true;
  }

  uint64_t equal() const { return equal_; }

 private:
  // Counts all lines except the last line.
  static uint64_t whole_lines(const char* path) {
    const uint64_t count = count_lines(path);
    return count == 0 ? 0 : count - 1;
  }

  bool next_expected() { return oracle_.next_of(sessions_.first, sessions_.last, &instruction_); }

  std::string oracle_line() const {
    const std::string line = expected_line(instruction_);
    return unmapped_ ? without(kLogicalAddresses, line) : line;
  }

  std::string decoded_line(std::string_view line) const {
    const std::string decoded = without(kMachineAddresses, line);
    return unmapped_ ? without(kLogicalAddresses, decoded) : decoded;
  }

  void remember(const std::string& line) {
    context_.push_back(line);
    if (context_.size() > kContextLines) context_.pop_front();
  }

  void report(const std::string& expected, const std::string& decoded) {
    fmt::print("instruction {} differs (line {} of the text)\n", equal_ + 1, text_.number());
    for (const std::string& line : context_) fmt::print("  equal    {}\n", line);
    fmt::print("  oracle   {}\n  decoded  {}\n", expected, decoded);
    for (size_t i = 0; i < kContextLines && next_expected(); i++) {
      fmt::print("  oracle   {}\n", oracle_line());
    }
    std::string_view line;
    for (size_t i = 0; i < kContextLines && text_.next(&line); i++) {
      fmt::print("  decoded  {}\n", decoded_line(line));
    }
  }

  OracleReader& oracle_;
  LineReader text_;
  Sessions sessions_;
  uint64_t lines_;  // limit of compared lines
  bool unmapped_;   // logical addresses are not compared
  OracleInstruction instruction_{};
  std::deque<std::string> context_;
  uint64_t equal_ = 0;
};

int compare_trace(const char* oracle_path, const char* text_path, bool suffix) {
  OracleReader oracle(oracle_path);
  TraceComparison comparison(oracle, text_path, {}, Extent::kAll);
  if (suffix) {
    const uint64_t executed = count_instructions(oracle_path);
    const uint64_t decoded = count_lines(text_path);
    if (decoded > executed) {
      fmt::print("the text has {} instructions, the oracle only {}\n", decoded, executed);
      return 1;
    }
    comparison.skip(executed - decoded);
  }
  return comparison.run() && comparison.equal() != 0 ? 0 : 1;
}

// Parses "3-5=PATH".
std::string parse_part(const std::string& argument, Sessions* sessions) {
  int path = 0;
  if (std::sscanf(argument.c_str(), "%" SCNu64 "-%" SCNu64 "=%n", &sessions->first, &sessions->last,
                  &path) != 2 ||
      path == 0) {
    throw std::runtime_error(fmt::format("{} is not FIRST-LAST=FILE", argument));
  }
  return argument.substr(static_cast<size_t>(path));
}

int compare_parts(const char* oracle_path, int count, char** parts, Extent extent) {
  OracleReader oracle(oracle_path);
  uint64_t equal = 0;
  for (int i = 0; i < count; i++) {
    Sessions sessions;
    const std::string text_path = parse_part(parts[i], &sessions);
    TraceComparison comparison(oracle, text_path, sessions, extent);
    if (!comparison.run()) return 1;
    equal += comparison.equal();
  }
  fmt::print("{} instructions equal\n", equal);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bool beginnings = argc >= 4 && std::strcmp(argv[1], "--beginnings") == 0;
  const bool parts = beginnings || (argc >= 4 && std::strcmp(argv[1], "--parts") == 0);
  const bool suffix = argc == 4 && std::strcmp(argv[1], "--suffix") == 0;
  if (!parts && (argc != (suffix ? 4 : 3) || (suffix && std::strcmp(argv[3], "-") == 0))) {
    std::fputs(
        "usage: oracle-compare [--suffix] ORACLE DECODED.txt\n"
        "       oracle-compare --parts|--beginnings ORACLE FIRST-LAST=DECODED.txt...\n",
        stderr);
    return 2;
  }
  try {
    const Extent extent = beginnings ? Extent::kBeginning : Extent::kAll;
    if (parts) return compare_parts(argv[2], argc - 3, argv + 3, extent);
    return compare_trace(argv[argc - 2], argv[argc - 1], suffix);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "oracle-compare: %s\n", error.what());
    return 2;
  }
}

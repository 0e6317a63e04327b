// SPDX-License-Identifier: GPL-2.0-or-later
// Compares the oracle with QEMU's own execution log.
//
//   execlog-compare ORACLE qemu.log VCPU
//
// QEMU writes the log with `-d exec,nochain,int` and one instruction per block (HMP
// `one-insn-per-tb on`). The log of QEMU 11.1 has this line before each block that begins:
//   Trace VCPU: 0x... [cs_base/PC/flags/cflags] symbol
// this line if a pending interrupt prevented the block from running:
//   Stopped execution of TB chain before 0x... [PC] symbol
// and this line for each exception and interrupt, without a vCPU:
//   Raise exception at PC => NAME (number) error=...
// PC is the instruction that raised the exception, or the instruction after the interrupt.
//
// The oracle's addresses must be a contiguous run of the vCPU's begun instructions, without the
// instructions that did not complete. These are the stopped instructions, and the instructions at
// whose address an exception other than a system call was raised. If QEMU restarts an instruction
// by itself (a memory access that must be atomic), the instruction begins twice and counts once.
// "Raise" lines do not name a vCPU, so the check is strictest for a guest with one vCPU.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <vector>

#include "tests/machine/compare/line_reader.h"
#include "tests/machine/compare/oracle_reader.h"

namespace {

using htmtrace::compare::LineReader;
using htmtrace::compare::OracleInstruction;
using htmtrace::compare::OracleReader;

struct Executed {
  uint64_t ea;
  bool accesses_memory;
};

uint64_t parse_hex(std::string_view text) {
  uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return value;
}

std::vector<Executed> read_oracle(const char* path) {
  OracleReader oracle(path);
  OracleInstruction instruction{};
  std::vector<Executed> executed;
  while (oracle.next(&instruction)) {
    executed.push_back({instruction.ea, !instruction.accesses.empty()});
  }
  return executed;
}

// "[cs_base/PC/flags/cflags]"
uint64_t traced_pc(std::string_view line) {
  const size_t open = line.find('[');
  const size_t slash = line.find('/', open);
  if (open == std::string_view::npos || slash == std::string_view::npos) return 0;
  return parse_hex(line.substr(slash + 1));
}

bool raised_by_instruction(std::string_view line) {
  // Interrupts are raised between instructions; a system call completes by its exception.
  static constexpr std::array kOthers = {"=> SYSCALL",  "=> DECR",    "=> EXTERNAL", "=> PERFM",
                                         "=> SDOOR",    "=> HDECR",   "=> HVIRT",    "=> RESET",
                                         "=> SDOOR_HV", "=> DOORBELL"};
  for (const char* other : kOthers) {
    if (line.find(other) != std::string_view::npos) return false;
  }
  return true;
}

// Returns the vCPU's instructions that began and were not restarted.
std::vector<uint64_t> read_log(const char* path, unsigned vcpu) {
  constexpr std::string_view kRaise = "Raise exception at ";
  constexpr std::string_view kStopped = "Stopped execution of TB chain before ";
  const std::string begun = fmt::format("Trace {}: ", vcpu);
  LineReader reader(path);
  std::vector<uint64_t> addresses;
  std::string_view line;
  while (reader.next(&line)) {
    if (line.starts_with(begun)) {
      addresses.push_back(traced_pc(line));
      continue;
    }
    uint64_t undone = 0;
    if (line.starts_with(kStopped)) {
      undone = parse_hex(line.substr(std::min(line.find('[') + 1, line.size())));
    } else if (line.starts_with(kRaise) && raised_by_instruction(line)) {
      undone = parse_hex(line.substr(kRaise.size()));
    } else {
      continue;
    }
    if (!addresses.empty() && addresses.back() == undone) addresses.pop_back();
  }
  return addresses;
}

struct Match {
  size_t equal = 0;
  size_t restarted = 0;
  size_t log_end = 0;
};

Match match_from(const std::vector<Executed>& executed, const std::vector<uint64_t>& log,
                 size_t start) {
  Match match;
  size_t at = start;
  for (const Executed& instruction : executed) {
    if (at == log.size() || log[at] != instruction.ea) break;
    at++;
    match.equal++;
    const bool again = at < log.size() && log[at] == instruction.ea;
    const bool wanted = match.equal < executed.size() && executed[match.equal].ea == instruction.ea;
    if (again && !wanted && instruction.accesses_memory) {
      at++;
      match.restarted++;
    }
  }
  match.log_end = at;
  return match;
}

void report(const std::vector<Executed>& executed, const std::vector<uint64_t>& log,
            const Match& best) {
  fmt::print("the oracle is not part of the log; the longest match has {} of {} instructions\n",
             best.equal, executed.size());
  constexpr size_t kContext = 4;
  const size_t before = std::min({kContext, best.equal, best.log_end});
  for (size_t i = 0; i < before + kContext; i++) {
    const size_t oracle_at = best.equal - before + i;
    const size_t log_at = best.log_end - before + i;
    const uint64_t a = oracle_at < executed.size() ? executed[oracle_at].ea : 0;
    const uint64_t b = log_at < log.size() ? log[log_at] : 0;
    fmt::print("  oracle {:016x}  log {:016x}{}\n", a, b, a == b ? "" : "  differs");
  }
}

int compare_log(const char* oracle_path, const char* log_path, unsigned vcpu) {
  const std::vector<Executed> executed = read_oracle(oracle_path);
  const std::vector<uint64_t> log = read_log(log_path, vcpu);
  if (executed.empty() || log.empty()) {
    fmt::print("cannot compare: {} instructions in the oracle, {} in the log\n", executed.size(),
               log.size());
    return 1;
  }
  Match best;
  for (size_t start = 0; start < log.size(); start++) {
    if (log[start] != executed.front().ea) continue;
    const Match match = match_from(executed, log, start);
    if (match.equal > best.equal) best = match;
    if (match.equal == executed.size()) {
      fmt::print("{} instructions equal, {} of them restarted by the emulator\n", match.equal,
                 match.restarted);
      return 0;
    }
  }
  report(executed, log, best);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: execlog-compare ORACLE qemu.log VCPU\n", stderr);
    return 2;
  }
  try {
    return compare_log(argv[1], argv[2], static_cast<unsigned>(std::atoi(argv[3])));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "execlog-compare: %s\n", error.what());
    return 2;
  }
}

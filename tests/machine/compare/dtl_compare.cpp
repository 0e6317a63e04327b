// SPDX-License-Identifier: GPL-2.0-or-later
// dtl-compare ORACLE... TEXT - checks that `htmtrace dtl` printed only entries that the hypervisor
// wrote, each once and in order. Also counts missing entries. ORACLE is dtl.oracle.N for CPU N. If
// several logs were registered for a CPU, the program uses the log with the first printed entry. It
// prints for each CPU:
//
//   cpu N written W printed P missing M after A
//
// W is the number of entries in that log. M entries that precede the last printed entry are
// missing, and A entries follow it. Exit status: 0 if all printed entries are correct, 1 if not, 2
// for an invalid file.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/machine/compare/line_reader.h"

namespace htmtrace::compare {
namespace {

constexpr size_t kEntryBytes = 48;
constexpr unsigned char kLogBegins = 0xff;

// The hypervisor's entries of one CPU. The entries of a log are between its begin and the next
// log's begin.
struct Oracle {
  std::vector<std::string> entries;  // as lines of numbers
  std::vector<size_t> begins;
  // Bounds of the log that holds the printed entries.
  size_t begin = 0, end = 0, next = 0;
  uint64_t printed = 0, missing = 0;

  // Finds the log. Returns false if no log contains `entry`.
  bool choose(const std::string& entry) {
    const auto found = std::ranges::find(entries, entry);
    if (found == entries.end()) return false;
    const auto after = std::ranges::upper_bound(begins, size_t(found - entries.begin()));
    end = after == begins.end() ? entries.size() : *after;
    begin = next = *(after - 1);
    return true;
  }
};

uint64_t big_endian(const std::string& bytes, size_t at, size_t length) {
  uint64_t value = 0;
  for (size_t i = 0; i < length; i++) {
    value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  }
  return value;
}

// Formats the compared fields of an entry.
std::string describe(uint64_t dispatch, uint64_t preempt, uint64_t processor, uint64_t enqueue,
                     uint64_t ready, uint64_t waiting, uint64_t timebase, uint64_t fault,
                     uint64_t srr0, uint64_t srr1) {
  return fmt::format("{} {} {} {} {} {} {} {:x} {:x} {:x}", timebase, dispatch, preempt, enqueue,
                     ready, waiting, processor, fault, srr0, srr1);
}

Oracle read_oracle(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " + path);
  Oracle log;
  std::string bytes(kEntryBytes, '\0');
  while (file.read(bytes.data(), kEntryBytes)) {
    if (static_cast<unsigned char>(bytes[0]) == kLogBegins) {
      log.begins.push_back(log.entries.size());
      continue;
    }
    log.entries.push_back(describe(big_endian(bytes, 0, 1), big_endian(bytes, 1, 1),
                                   big_endian(bytes, 2, 2), big_endian(bytes, 4, 4),
                                   big_endian(bytes, 8, 4), big_endian(bytes, 12, 4),
                                   big_endian(bytes, 16, 8), big_endian(bytes, 24, 8),
                                   big_endian(bytes, 32, 8), big_endian(bytes, 40, 8)));
  }
  if (file.gcount() != 0) throw std::runtime_error(path + " ends within an entry");
  return log;
}

// Returns the code that the hypervisor uses for a printed name.
uint64_t code_of(std::string_view name, bool dispatch) {
  static const std::map<std::string_view, uint64_t> dispatch_codes = {
      {"external_interrupt", 0}, {"H_PROD", 2},     {"decrementer_interrupt", 3},
      {"conferred_cycles", 6},   {"time_slice", 7}, {"virtual_memory_page_fault", 8},
      {"priv_doorbell", 10}};
  static const std::map<std::string_view, uint64_t> preempt_codes = {
      {"H_CEDE", 2}, {"H_CONFER", 3}, {"time_slice", 4}, {"virtual_memory_page_fault", 6}};
  const auto& codes = dispatch ? dispatch_codes : preempt_codes;
  const auto found = codes.find(name);
  if (found == codes.end()) throw std::runtime_error("unknown reason " + std::string(name));
  return found->second;
}

// Returns the text from "NAME:" to the next comma or the end.
std::string_view field(std::string_view line, std::string_view name) {
  const size_t at = line.find(name);
  if (at == std::string_view::npos) throw std::runtime_error("no " + std::string(name));
  const std::string_view rest = line.substr(at + name.size());
  return rest.substr(0, rest.find(','));
}

uint64_t number(std::string_view text) {
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw std::runtime_error("no number: " + std::string(text));
  }
  return value;
}

std::string read_line(std::string_view line) {
  return describe(code_of(field(line, " dispatch_reason:"), true),
                  code_of(field(line, " preempt_reason:"), false),
                  number(field(line, " processor_id:")),
                  number(field(line, " enqueue_to_dispatch_time:")),
                  number(field(line, " ready_to_enqueue_time:")),
                  number(field(line, " waiting_to_ready_time:")), number(field(line, " timebase:")),
                  number(field(line, " fault_addr:")), number(field(line, " srr0:")),
                  number(field(line, " srr1:")));
}

int compare_dispatches(int argc, char** argv) {
  std::map<uint64_t, Oracle> logs;
  for (int i = 1; i + 1 < argc; i++) {
    const std::string path = argv[i];
    logs[number(std::string_view(path).substr(path.rfind('.') + 1))] = read_oracle(path);
  }
  LineReader text(argv[argc - 1]);
  for (std::string_view line; text.next(&line);) {
    if (!line.starts_with('[')) throw std::runtime_error(fmt::format("line {}", text.number()));
    Oracle& log = logs.at(number(line.substr(1, line.find(']') - 1)));
    const std::string entry = read_line(line);
    const bool known = log.printed != 0 || log.choose(entry);
    const size_t before = log.next;
    while (log.next < log.end && log.entries[log.next] != entry) log.next++;
    if (!known || log.next == log.end) {
      fmt::print(
          "line {}: the hypervisor wrote no such entry, or not after the preceding one:\n{}\n",
          text.number(), line);
      return 1;
    }
    log.missing += log.next - before;
    log.next++;
    log.printed++;
  }
  for (const auto& [cpu, log] : logs) {
    fmt::print("cpu {} written {} printed {} missing {} after {}\n", cpu, log.end - log.begin,
               log.printed, log.missing, log.end - log.next);
  }
  return 0;
}

}  // namespace
}  // namespace htmtrace::compare

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: dtl-compare ORACLE... TEXT\n", stderr);
    return 2;
  }
  try {
    return htmtrace::compare::compare_dispatches(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "dtl-compare: {}\n", error.what());
    return 2;
  }
}

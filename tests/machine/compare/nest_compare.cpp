// SPDX-License-Identifier: GPL-2.0-or-later
// Compares a decoded bus trace with the commands on the bus.
//
// nest-compare [--suffix] ORACLE DECODED.txt
//
// tests/machine/plugin/bus_oracle.h describes ORACLE. DECODED is the text of `htmtrace decode`.
// Exit status 0: the commands of each engine are equal and in order. This includes name, machine
// and logical address, sender, response, and time. With --suffix, the text is from a wrapped
// buffer: its commands are the last commands of each engine, but not all commands.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/machine/compare/line_reader.h"

namespace {

using htmtrace::compare::LineReader;

constexpr size_t kEngines = 2;
constexpr uint64_t kTimerMask = (uint64_t{1} << 36) - 1;  // range of the time in a stamp

enum Operation : unsigned { kRead, kReadToModify, kClaim, kCastOut, kDeviceRead, kDeviceWrite };

struct Command {
  unsigned operation;
  unsigned response;
  unsigned core;
  unsigned transaction;
  uint64_t real;
  uint64_t machine;
  uint64_t tick;
};

class Oracle {
 public:
  explicit Oracle(const char* path) : path_(path), file_(std::fopen(path, "rb"), &std::fclose) {
    if (!file_) throw std::runtime_error(fmt::format("cannot open {}: {}", path, strerror(errno)));
    char magic[8] = {};
    if (std::fread(magic, 1, sizeof(magic), file_.get()) != sizeof(magic) ||
        std::memcmp(magic, "htmobus1", sizeof(magic)) != 0) {
      throw std::runtime_error(fmt::format("{} is not an oracle of a bus", path));
    }
    node = number(2);
    chip = number(2);
    while (take_item()) continue;
  }

  uint64_t node = 0, chip = 0;
  uint64_t lost = 0;
  std::array<std::vector<Command>, kEngines> commands;

 private:
  uint64_t number(unsigned bytes) {
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++) {
      const int byte = getc_unlocked(file_.get());
      if (byte == EOF) throw std::runtime_error(fmt::format("{} ends inside an item", path_));
      value |= static_cast<uint64_t>(byte) << (8 * i);
    }
    return value;
  }

  bool take_item() {
    const int kind = getc_unlocked(file_.get());
    if (kind == EOF && !in_session_) return false;
    if (kind == 'S' && !in_session_) {
      in_session_ = true;
      number(8);
    } else if (kind == 'E' && in_session_) {
      in_session_ = false;
      lost += number(8);
    } else if (kind == 'C' && in_session_) {
      Command command{};
      for (unsigned* field :
           {&command.operation, &command.response, &command.core, &command.transaction}) {
        *field = static_cast<unsigned>(number(1));
      }
      for (uint64_t* field : {&command.real, &command.machine, &command.tick}) *field = number(8);
      commands[command.machine >> 7 & 1].push_back(command);
    } else {
      throw std::runtime_error(fmt::format("{}: unexpected item", path_));
    }
    return true;
  }

  const char* path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  bool in_session_ = false;
};

std::string_view name_of(unsigned operation) {
  static constexpr std::string_view kNames[] = {"rd_go_s", "rwitm",    "dclaim",
                                                "cp_m",    "ci_pr_rd", "ci_pr_w"};
  return operation < std::size(kNames) ? kNames[operation] : "(unknown)";
}

// Returns the code's name in the tables of the POWER9 parser.
std::string_view response_of(const Command& command) {
  switch (command.operation) {
    case kRead:
      return command.response == 1 ? "go_Me:ed" : "go_Sl:T";
    case kReadToModify:
      return command.response == 1 ? "go_M:ed" : "go_M:T";
    case kClaim:
      return "go_M";
    default:
      return "addr_ack_done";
  }
}

// Returns the value of "KEY=" in the line, or an empty text.
std::string_view field(std::string_view line, std::string_view key) {
  for (size_t at = line.find(key); at != std::string_view::npos; at = line.find(key, at + 1)) {
    const size_t value = at + key.size();
    if ((at != 0 && line[at - 1] != ' ') || value >= line.size() || line[value] != '=') continue;
    return line.substr(value + 1, line.find(' ', value) - value - 1);
  }
  return {};
}

class BusComparison {
 public:
  BusComparison(const Oracle& oracle, const char* text_path, bool suffix)
      : oracle_(oracle), text_(text_path), suffix_(suffix) {}

  // `of` reads the same text.
  bool begin_at_suffix(LineReader of) {
    std::array<size_t, kEngines> there{};
    for (std::string_view line; of.next(&line);) {
      const std::string_view engine = field(line, "engine");
      if (field(line, "command") != "-" && (engine == "0" || engine == "1")) {
        there[static_cast<size_t>(engine[0] - '0')]++;
      }
    }
    for (size_t engine = 0; engine < kEngines; engine++) {
      const size_t all = oracle_.commands[engine].size();
      if (there[engine] > all) {
        fmt::print("engine {}: the text has {} commands, the oracle only {}\n", engine,
                   there[engine], all);
        return false;
      }
      next_[engine] = all - there[engine];
    }
    fmt::print("overwritten commands: {} on engine 0, {} on engine 1\n", next_[0], next_[1]);
    return next_[0] + next_[1] != 0;
  }

  bool run() {
    std::string_view line;
    while (text_.next(&line)) {
      // The command of this response was overwritten.
      if (suffix_ && field(line, "command") == "-") continue;
      const std::string_view engine = field(line, "engine");
      if (engine != "0" && engine != "1") return report(line, "a line without an engine");
      if (!take(line, static_cast<size_t>(engine[0] - '0'))) return false;
    }
    for (size_t engine = 0; engine < kEngines; engine++) {
      if (next_[engine] == oracle_.commands[engine].size()) continue;
      fmt::print("engine {}: the text ends after {} of {} commands\n", engine, next_[engine],
                 oracle_.commands[engine].size());
      return false;
    }
    fmt::print("{} commands equal on engine 0, {} on engine 1", next_[0], next_[1]);
    if (oracle_.lost != 0) fmt::print(", {} more not traced (buffer full)", oracle_.lost);
    fmt::print("\n");
    return next_[0] != 0 && next_[1] != 0;
  }

 private:
  bool take(std::string_view line, size_t engine) {
    const std::vector<Command>& commands = oracle_.commands[engine];
    if (next_[engine] == commands.size()) return report(line, "(end)");
    const Command& command = commands[next_[engine]++];
    const std::string expected = expect(command, field(line, "response") == "-");
    std::string decoded = fmt::format("time={}", time_of(line));
    for (const char* key :
         {"command", "ra", "la", "group", "chip", "unit", "transaction", "response"}) {
      decoded += fmt::format(" {}={}", key, field(line, key));
    }
    return decoded == expected || report(decoded, expected);
  }

  // A full trace lacks the last responses.
  std::string expect(const Command& command, bool no_response) const {
    const bool device = command.operation >= kDeviceRead;
    const std::string logical =
        device ? std::string(16, '-') : fmt::format("{:016x}", command.real);
    const bool may_lack = no_response && oracle_.lost != 0;
    const unsigned unit = (command.core / 4) << 7 | 0x40 | (command.core / 2 % 2) << 5;
    return fmt::format(
        "time={} command={} ra={:016x} la={} group={:x} chip={:x} unit={:03x}:core "
        "transaction={:02x} response={}",
        command.tick & kTimerMask, name_of(command.operation), command.machine, logical,
        oracle_.node, oracle_.chip, unit, command.transaction,
        may_lack ? "-" : response_of(command));
  }

  static uint64_t time_of(std::string_view line) {
    const std::string_view text = field(line, "time");
    uint64_t time = 0;
    std::from_chars(text.data(), text.data() + text.size(), time);
    return time & kTimerMask;
  }

  bool report(std::string_view decoded, std::string_view expected) const {
    fmt::print("line {} of the text differs\n  oracle   {}\n  decoded  {}\n", text_.number(),
               expected, decoded);
    return false;
  }

  const Oracle& oracle_;
  LineReader text_;
  bool suffix_;
  std::array<size_t, kEngines> next_{};
};

}  // namespace

int main(int argc, char** argv) {
  const bool suffix = argc == 4 && std::strcmp(argv[1], "--suffix") == 0;
  if (argc != 3 && !suffix) {
    std::fputs("usage: nest-compare [--suffix] ORACLE DECODED.txt\n", stderr);
    return 2;
  }
  const char* const text = argv[argc - 1];
  try {
    const Oracle oracle(argv[argc - 2]);
    BusComparison comparison(oracle, text, suffix);
    if (suffix && !comparison.begin_at_suffix(LineReader(text))) return 1;
    return comparison.run() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "nest-compare: %s\n", error.what());
    return 2;
  }
}

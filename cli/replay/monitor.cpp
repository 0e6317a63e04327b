// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/replay/monitor.h"

#include <fmt/core.h>

#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include "core/call_stacks/call_stacks.h"
#include "core/core_trace/access_shape.h"
#include "core/core_trace/modes.h"

namespace htmtrace {
namespace {

constexpr const char* kMonitorHelp =
    "position              the next instruction: number, offset, address, privilege, data\n"
    "go N                  go to instruction N, counted from 0\n"
    "go mark VALUE         go to the first instruction after the first mark with this value\n"
    "stack                 the call stack at this position\n"
    "process               the process of the next instruction, if its pages prove it\n"
    "awatch all|read|write the accesses that stop an awatch [all]\n"
    "After go, gdb still shows the old registers. Run: maintenance flush register-cache\n";

// Splits at the first blank, and skips further blanks.
std::pair<std::string_view, std::string_view> first_word(std::string_view text) {
  const size_t end = std::min(text.find(' '), text.size());
  const size_t next = std::min(text.find_first_not_of(' ', end), text.size());
  return {text.substr(0, end), text.substr(next)};
}

// Decimal, or hexadecimal with the prefix 0x.
std::optional<uint64_t> whole_number(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x")) {
    text.remove_prefix(2);
    base = 16;
  }
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value, base);
  if (text.empty() || failure != std::errc{} || stop != end) return std::nullopt;
  return value;
}

const char* direction_name(AccessShape shape) {
  if (shape.reads && shape.writes) return "reads and writes";
  if (shape.reads) return "reads";
  return shape.writes ? "writes" : "names";
}

}  // namespace

std::string Monitor::run(std::string_view command, Player& player, StopPoints& points) const {
  const auto [word, rest] = first_word(command);
  if (word == "position" && rest.empty()) return position(player);
  if (word == "go") return go(rest, player);
  if (word == "stack" && rest.empty()) return stack(player);
  if (word == "process" && rest.empty()) return process(player);
  if (word == "awatch") return set_filter(rest, points);
  if (word == "help") return kMonitorHelp;
  return fmt::format("unknown command \"{}\"\n{}", command, kMonitorHelp);
}

std::string Monitor::position(Player& player) {
  const Instruction here = player.instruction();
  std::string text = fmt::format("instruction {}", player.number());
  if (const auto count = player.track().count()) text += fmt::format(" of {}", *count);
  text += fmt::format(", offset {}, ea {:016x}", here.offset, here.ea.value);
  const Privilege privilege = privilege_of(here.modes);
  if (privilege != Privilege::kUnknown) {
    text += fmt::format(", {}", kPrivilegeNames.at(static_cast<size_t>(privilege)));
  }
  const AccessShape shape = here.has_opcode ? access_shape(here) : AccessShape{};
  for (unsigned i = 0; i < here.data_count; i++) {
    text += fmt::format(", {} {:016x}", direction_name(shape), here.data.at(i).ea.value);
  }
  return text + "\n";
}

std::string Monitor::process(Player& player) {
  return player.track().process_of(player.number()).name + "\n";
}

std::string Monitor::go(std::string_view where, Player& player) {
  const auto [word, rest] = first_word(where);
  const bool to_mark = word == "mark";
  const auto number = whole_number(to_mark ? rest : where);
  if (!number) {
    return fmt::format("cannot go to \"{}\": not a number, and not \"mark VALUE\"\n", where);
  }
  constexpr uint64_t kMostMark = 0xfff;  // MARK has a value of 12 bits: htm-core-trace(5), STAMPS
  const bool found = to_mark
                         ? *number <= kMostMark && player.go_to_mark(static_cast<unsigned>(*number))
                         : player.go_to(*number);
  if (found) return position(player);
  if (to_mark) {
    return fmt::format("cannot go to mark {}: no instruction follows such a mark\n", *number);
  }
  return fmt::format("cannot go to instruction {}: the trace has {} instructions\n", *number,
                     player.track().count().value_or(0));
}

std::string Monitor::set_filter(std::string_view which, StopPoints& points) {
  using Filter = StopPoints::Filter;
  if (which == "all") {
    points.set_filter(Filter::kAll);
  } else if (which == "read") {
    points.set_filter(Filter::kReads);
  } else if (which == "write") {
    points.set_filter(Filter::kWrites);
  } else {
    return fmt::format("cannot watch \"{}\": use all, read or write\n", which);
  }
  return fmt::format("awatch: {}\n", which);
}

std::string Monitor::stack(Player& player) const {
  symbols_.enter(player.track().trace().path);
  CallStacks stacks(symbols_.table());
  const bool has_pages = !symbols_.table().pages().empty();
  player.track().play_from_start(player.number() + 1, has_pages, stacks);
  std::string text;
  unsigned depth = 0;
  for (auto node = stacks.tree().visible(stacks.here()); node != CallStacks::kRoot;
       node = stacks.tree().outer(node)) {
    text += fmt::format("#{:<3} {}\n", depth++, stacks.tree().name(node));
  }
  return text.empty() ? "unknown\n" : text;
}

}  // namespace htmtrace

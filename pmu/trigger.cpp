// SPDX-License-Identifier: GPL-2.0-or-later
#include "pmu/trigger.h"

#include <fmt/core.h>
#include <linux/hw_breakpoint.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/base/error.h"
#include "pmu/description.h"
#include "pmu/elf_place.h"

namespace htmtrace {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kReturn = "%return";
constexpr std::string_view kKprobePrefix = "kprobe:";
constexpr std::string_view kBreakpointPrefix = "mem:";

// perf's names. cpu-clock and task-clock are absent, because a clock marks no occurrence.
constexpr std::array kSoftwareEvents = {
    std::pair{std::string_view("context-switches"), PERF_COUNT_SW_CONTEXT_SWITCHES},
    std::pair{std::string_view("cs"), PERF_COUNT_SW_CONTEXT_SWITCHES},
    std::pair{std::string_view("cpu-migrations"), PERF_COUNT_SW_CPU_MIGRATIONS},
    std::pair{std::string_view("migrations"), PERF_COUNT_SW_CPU_MIGRATIONS},
    std::pair{std::string_view("page-faults"), PERF_COUNT_SW_PAGE_FAULTS},
    std::pair{std::string_view("faults"), PERF_COUNT_SW_PAGE_FAULTS},
    std::pair{std::string_view("minor-faults"), PERF_COUNT_SW_PAGE_FAULTS_MIN},
    std::pair{std::string_view("major-faults"), PERF_COUNT_SW_PAGE_FAULTS_MAJ},
    std::pair{std::string_view("alignment-faults"), PERF_COUNT_SW_ALIGNMENT_FAULTS},
    std::pair{std::string_view("emulation-faults"), PERF_COUNT_SW_EMULATION_FAULTS}};

Error bad_trigger(const std::string& text, const std::string& why) {
  return Error(fmt::format("{}: {}", text, why));
}

// Parses all of `text` as a number; 0x marks hexadecimal.
std::optional<uint64_t> whole_number(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, hexadecimal ? 16 : 10);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

// Parses "NAME[+OFFSET][%return]".
void parse_symbol(std::string_view symbol, TriggerWords& words) {
  if (symbol.ends_with(kReturn)) {
    words.at_return = true;
    symbol.remove_suffix(kReturn.size());
  }
  const size_t plus = symbol.find('+');
  words.name = symbol.substr(0, plus);
  if (words.name.empty()) throw bad_trigger(words.text, "the function is missing");
  if (plus == std::string_view::npos) return;
  const auto offset = whole_number(symbol.substr(plus + 1));
  if (!offset) throw bad_trigger(words.text, "the offset is not a number");
  if (words.at_return) throw bad_trigger(words.text, "a return has no offset");
  words.offset = *offset;
}

void parse_uprobe(TriggerWords& words) {
  const size_t colon = words.text.rfind(':');
  const size_t slash = words.text.rfind('/');
  if (colon == std::string::npos || colon < slash) {
    throw bad_trigger(words.text, "the function is missing: write FILE:FUNCTION");
  }
  words.kind = TriggerWords::Kind::kUprobe;
  words.place = words.text.substr(0, colon);
  const std::string rest = words.text.substr(colon + 1);
  if (!rest.starts_with("0x")) return parse_symbol(rest, words);
  const auto offset = whole_number(rest);
  if (!offset) throw bad_trigger(words.text, "the offset is not a number");
  words.offset = *offset;
}

// Parses "ADDRESS[/LENGTH][:rwx]", perf's syntax.
void parse_breakpoint(std::string_view rest, TriggerWords& words) {
  words.kind = TriggerWords::Kind::kBreakpoint;
  const size_t colon = rest.find(':');
  const std::string_view access = colon == std::string_view::npos ? "rw" : rest.substr(colon + 1);
  const std::string_view where = rest.substr(0, colon);
  const size_t slash = where.find('/');
  const auto address = whole_number(where.substr(0, slash));
  if (!address) throw bad_trigger(words.text, "the address is not a number");
  words.number = *address;
  for (const char letter : access) {
    const uint32_t bit = letter == 'r'   ? HW_BREAKPOINT_R
                         : letter == 'w' ? HW_BREAKPOINT_W
                         : letter == 'x' ? HW_BREAKPOINT_X
                                         : 0;
    if (bit == 0) throw bad_trigger(words.text, "the access has a letter other than r, w and x");
    words.access |= bit;
  }
  if (words.access == 0 || (words.access > HW_BREAKPOINT_X)) {
    throw bad_trigger(words.text, "the access must be r, w, rw or x");
  }
  // The kernel requires sizeof(long) as the length of an execution breakpoint.
  words.length = words.access == HW_BREAKPOINT_X ? sizeof(long) : 4;
  if (slash == std::string_view::npos) return;
  const auto length = whole_number(where.substr(slash + 1));
  if (!length || *length == 0) throw bad_trigger(words.text, "the length is not a number");
  words.length = *length;
}

Error unknown_trigger(const std::string& text) {
  std::string names;
  for (const auto& [name, number] : kSoftwareEvents) {
    names += names.empty() ? "" : ", ";
    names += name;
  }
  return bad_trigger(
      text, fmt::format("not an event that can pause a trace. Supported events: a tracepoint "
                        "(SYSTEM:NAME), a function of a program (FILE:FUNCTION, the file "
                        "with a slash) or of the kernel (kprobe:FUNCTION), a breakpoint "
                        "(mem:ADDRESS), and {}. Hardware events cannot pause a trace",
                        names));
}

// The name is safe as a component of a tracefs path.
bool is_plain(std::string_view name) {
  return !name.empty() && name.find_first_not_of(
                              "abcdefghijklmnopqrstuvwxyz"
                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == std::string_view::npos;
}

PmuDescription probe_pmu(const fs::path& root, const char* name) {
  if (PmuDescription::exists(root, name)) return PmuDescription::read(root, name);
  throw Error(fmt::format("this kernel has no {}s for perf", name))
      .on(fmt::format("looked for {}", (root / name).string()))
      .hint(fmt::format("it needs CONFIG_{}_EVENTS", name[0] == 'u' ? "UPROBE" : "KPROBE"));
}

uint64_t add_offset(uint64_t value, const TriggerWords& words) {
  if (words.offset > UINT64_MAX - value) throw bad_trigger(words.text, "the offset is too large");
  return value + words.offset;
}

}  // namespace

TriggerWords parse_trigger(const std::string& text) {
  TriggerWords words;
  words.text = text;
  if (text.starts_with(kBreakpointPrefix)) {
    parse_breakpoint(std::string_view(text).substr(kBreakpointPrefix.size()), words);
    return words;
  }
  if (text.starts_with(kKprobePrefix)) {
    words.kind = TriggerWords::Kind::kKprobe;
    parse_symbol(std::string_view(text).substr(kKprobePrefix.size()), words);
    return words;
  }
  if (text.find('/') != std::string::npos) {
    parse_uprobe(words);
    return words;
  }
  const size_t colon = text.find(':');
  if (colon == std::string::npos) {
    const auto* found =
        std::ranges::find(kSoftwareEvents, text, [](const auto& event) { return event.first; });
    if (found == kSoftwareEvents.end()) throw unknown_trigger(text);
    words.number = found->second;
    return words;
  }
  words.kind = TriggerWords::Kind::kTracepoint;
  words.place = text.substr(0, colon);
  words.name = text.substr(colon + 1);
  if (!is_plain(words.place) || !is_plain(words.name)) throw unknown_trigger(text);
  return words;
}

Trigger::Roots Trigger::usual_roots() {
  return {kPmuRoot, {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}};
}

Trigger::Trigger(const TriggerWords& words, const Roots& roots) : text_(words.text) {
  attr_.base().sample_period = 1;
  attr_.base().sample_type = PERF_SAMPLE_IP;
  // Do not set PERF_FORMAT_GROUP: reading the group would also read, and thereby drain, the htm
  // event.
  attr_.base().read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
                             PERF_FORMAT_ID | PERF_FORMAT_LOST;
  switch (words.kind) {
    case TriggerWords::Kind::kTracepoint:
      find_tracepoint(words, roots);
      break;
    case TriggerWords::Kind::kUprobe:
      find_probe(words, roots, "uprobe");
      pointed_ = fs::absolute(words.place).string();
      attr_.set_config(2, words.name.empty()
                              ? words.offset
                              : add_offset(elf_file_offset(pointed_, words.name), words));
      break;
    case TriggerWords::Kind::kKprobe:
      find_probe(words, roots, "kprobe");
      pointed_ = words.name;
      attr_.set_config(2, words.offset);
      break;
    case TriggerWords::Kind::kBreakpoint:
      attr_.base().type = PERF_TYPE_BREAKPOINT;
      attr_.base().bp_type = words.access;
      attr_.set_config(1, words.number);
      attr_.set_config(2, words.length);
      break;
    case TriggerWords::Kind::kSoftware:
      attr_.base().type = PERF_TYPE_SOFTWARE;
      attr_.base().config = words.number;
      break;
  }
}

void Trigger::find_probe(const TriggerWords& words, const Roots& roots, const char* name) {
  const PmuDescription pmu = probe_pmu(roots.pmus, name);
  attr_.base().type = pmu.type();
  if (words.at_return) pmu.store(attr_, "retprobe", 1);
}

void Trigger::find_tracepoint(const TriggerWords& words, const Roots& roots) {
  attr_.base().type = PERF_TYPE_TRACEPOINT;
  std::error_code failure;
  bool mounted = false;
  for (const fs::path& root : roots.tracefs) {
    mounted |= fs::exists(root / "events", failure);
    uint64_t id = 0;
    if (std::ifstream(root / "events" / words.place / words.name / "id") >> id) {
      attr_.base().config = id;
      return;
    }
  }
  if (!mounted) {
    throw Error(fmt::format("cannot look up tracepoint {}", text_))
        .on("reason: tracefs is not mounted, or may not be read")
        .hint("as root: mount -t tracefs tracefs /sys/kernel/tracing");
  }
  throw Error(fmt::format("cannot find or read tracepoint {}", text_))
      .hint("list all tracepoints: perf list tracepoint")
      .hint("a function of a program needs a slash in the file's name: ./PROGRAM:FUNCTION");
}

EventAttr Trigger::attr() const {
  EventAttr attr = attr_;
  if (!pointed_.empty()) {
    // The kernel expects the address as a number.
    attr.set_config(1, static_cast<uint64_t>(reinterpret_cast<uintptr_t>(pointed_.c_str())));
  }
  return attr;
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/base/processor.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <system_error>
#include <utility>

namespace htmtrace {
namespace {

constexpr const char* kCoreKnown = "core records known";
constexpr const char* kNoCore = "core records not public, read as POWER8's or POWER10's";
constexpr const char* kLikePower10 = "core records not public, read as POWER10's";
constexpr const char* kNestKnown = "nest records known";
constexpr const char* kNestHidden = "nest records not public, printed unchanged";

constexpr std::array<Processor, 8> kProcessors = {{
    {0x004b, "POWER8", kCoreKnown, kNestKnown, false},
    {0x004c, "POWER8", kCoreKnown, kNestKnown, false},
    {0x004d, "POWER8", kCoreKnown, kNestKnown, false},
    {0x004e, "POWER9", kNoCore, kNestKnown, true},
    {0x004f, "POWER9", kNoCore, kNestKnown, true},
    {0x0080, "POWER10", kCoreKnown, kNestHidden, false},
    {0x0082, "POWER11", kLikePower10, kNestHidden, true},
    {0x0083, "POWER12", kLikePower10, kNestHidden, true},
}};

std::string description_of(const Processor& processor) {
  return fmt::format("{}: {}; {}", processor.name, processor.core_traces, processor.nest_traces);
}

}  // namespace

const Processor* find_processor(uint32_t pvr) {
  for (const Processor& each : kProcessors) {
    if (each.version == pvr >> 16) return &each;
  }
  return nullptr;
}

std::string describe_processor(uint32_t pvr) {
  if (const Processor* known = find_processor(pvr)) return description_of(*known);
  return fmt::format("unknown (version 0x{:08x}): {}; {}", pvr, kLikePower10, kNestHidden);
}

std::vector<std::string> describe_processors() {
  std::vector<std::string> texts;
  for (const Processor& each : kProcessors) {
    std::string text = description_of(each);
    // A processor has several versions, which are neighbors in the table.
    if (texts.empty() || texts.back() != text) texts.push_back(std::move(text));
  }
  return texts;
}

std::optional<uint32_t> pvr_in(std::string_view revision) {
  constexpr std::string_view kBefore = "(pvr ";
  const size_t at = revision.find(kBefore);
  if (at == std::string_view::npos) return std::nullopt;
  const char* end = revision.data() + revision.size();
  uint16_t upper = 0, lower = 0;
  const auto first = std::from_chars(revision.data() + at + kBefore.size(), end, upper, 16);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != ' ') return std::nullopt;
  if (std::from_chars(first.ptr + 1, end, lower, 16).ec != std::errc()) return std::nullopt;
  return uint32_t{upper} << 16 | lower;
}

}  // namespace htmtrace

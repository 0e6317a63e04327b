// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/source_report/compiler_profile.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/analysis/control_flow.h"
#include "core/coverage/flow.h"
#include "output/source_report/formatted_output.h"

namespace htmtrace {
namespace {

constexpr uint64_t kWordBytes = 4;
constexpr uint64_t kCacheLineBytes = 128;  // of POWER8 to POWER10 (their user manuals)

// An edge inside of the file.
struct Jump {
  EdgeStart start;
  uint64_t to = 0;
  uint64_t count = 0;
};

std::vector<Jump> jumps_in(const CodeEdges& edges, const CodeFiles::File& file) {
  std::vector<Jump> jumps;
  for (const auto& [edge, found] : edges.edges()) {
    if (!file.holds(edge.from) || !file.holds(edge.to)) continue;
    const EdgeStart start{.address = file.address_of(edge.from),
                          .opcode = found.opcode,
                          .has_opcode = found.has_opcode,
                          .has_prefix = found.has_prefix};
    const uint64_t to = file.address_of(edge.to);
    // An edge without a branch is that of a signal or of another thread.
    if (start.kind() == BranchKind::kNone || to == start.next()) continue;
    if (is_direct_branch(start.opcode) && to != direct_target(start.opcode, start.address))
      continue;
    jumps.push_back({.start = start, .to = to, .count = found.count});
  }
  return jumps;
}

// A blank separates the names.
bool has_blank(std::string_view name) {
  return name.find_first_of(" \t\r\n") != name.npos;
}

}  // namespace

LlvmProfileTotals write_llvm_profile(const CodeEdges& edges, const CodeFiles::File& file,
                                     const SymbolTable& symbols, TextOutput& output) {
  FormattedOutput lines(output);
  const Flow flow(edges, file);
  LlvmProfileTotals totals{.ranges = flow.blocks().size()};
  lines.put("{}\n", totals.ranges);
  uint64_t last_line = ~uint64_t{0};
  for (const Flow::Block& block : flow.blocks()) {
    totals.words += block.count * ((block.end - block.begin) / kWordBytes);
    const uint64_t first = block.begin / kCacheLineBytes;
    const uint64_t last = (block.end - 1) / kCacheLineBytes;
    totals.lines += last - first + (first == last_line ? 0 : 1);
    last_line = last;
    // The end of a range is its last instruction. llvm-profgen treats a prefix and its suffix
    // as two instructions.
    lines.put("{:x}-{:x}:{}\n", block.begin, block.end - kWordBytes, block.count);
  }
  std::vector<Jump> jumps = jumps_in(edges, file);
  for (Jump& jump : jumps) {
    const EffectiveAddr to = file.named_address(jump.to);
    const SymbolTable::Symbol* const callee = symbols.find_code(to);
    if (callee == nullptr || callee->local_entry_bytes == 0) continue;
    const uint64_t begin = jump.to - callee->local_entry_bytes;
    // A loop can lead there, too.
    const bool is_entry = owned::plain(to.value) - callee->address == callee->local_entry_bytes;
    const bool is_inside = jump.start.address - begin < callee->size_bytes;
    if (is_entry && (!is_inside || sets_link(jump.start.opcode))) jump.to = begin;
  }
  std::ranges::sort(jumps, {},
                    [](const Jump& jump) { return std::pair(jump.start.address, jump.to); });
  lines.put("{}\n", jumps.size());
  totals.branches = jumps.size();
  for (const Jump& jump : jumps) {
    lines.put("{:x}->{:x}:{}\n", jump.start.address, jump.to, jump.count);
    totals.taken += jump.count;
  }
  return totals;
}

CallOrderTotals write_call_order(const CodeEdges& edges, const CodeFiles::File& file,
                                 const SymbolTable& symbols, TextOutput& output) {
  const auto function_at = [&](uint64_t address) {
    return symbols.find_code(file.named_address(address));
  };
  CallOrderTotals totals;
  std::map<std::pair<std::string_view, std::string_view>, uint64_t> calls;
  for (const Jump& jump : jumps_in(edges, file)) {
    if (!sets_link(jump.start.opcode)) continue;
    const SymbolTable::Symbol* const caller = function_at(jump.start.address);
    const SymbolTable::Symbol* const callee = function_at(jump.to);
    if (caller == nullptr || callee == nullptr) continue;
    if (has_blank(caller->name) || has_blank(callee->name)) {
      totals.omitted += jump.count;
      continue;
    }
    calls[{caller->name, callee->name}] += jump.count;
  }
  using Call = std::tuple<uint64_t, std::string_view, std::string_view>;
  std::vector<Call> sorted;
  sorted.reserve(calls.size());
  for (const auto& [names, count] : calls) sorted.emplace_back(count, names.first, names.second);
  std::ranges::sort(sorted, [](const Call& a, const Call& b) {
    return std::get<0>(a) != std::get<0>(b) ? std::get<0>(a) > std::get<0>(b) : a < b;
  });
  FormattedOutput lines(output);
  for (const auto& [count, caller, callee] : sorted) {
    lines.put("{} {} {}\n", caller, callee, count);
  }
  totals.pairs = sorted.size();
  return totals;
}

}  // namespace htmtrace

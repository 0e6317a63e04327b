// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/analysis/hot_part.h"

#include <algorithm>

namespace htmtrace {

const char* key_name(DataKey key) {
  switch (key) {
    case DataKey::kLogical:
      return "logical";
    case DataKey::kReal:
      return "real";
    case DataKey::kEffective:
      break;
  }
  return "effective";
}

HotPart::HotPart(DataKey key, uint64_t unit_bytes, const SymbolTable& symbols,
                 const MemoryOwners* owners)
    : key_(key),
      unit_mask_(~(unit_bytes - 1)),
      symbols_(symbols),
      named_(!symbols.empty() || !symbols.programs().empty()),
      cursor_(symbols) {
  if (owners != nullptr) begin_trace(*owners);
}

void HotPart::begin_trace(const MemoryOwners& owners) {
  // The memory of the run belongs to the preceding trace.
  finish();
  owners_.begin_trace(owners);
}

uint64_t HotPart::named_site_of(EffectiveAddr address) {
  if (!recent_code_.span.holds(address.value)) {
    recent_code_.span = symbols_.code_span_of(address);
    recent_code_.key = symbol_key(recent_code_.span, address);
  }
  if (recent_code_.span.symbol != nullptr) return recent_code_.key;
  // The line can begin in a function that ends before the address.
  return std::max(line_of(address), recent_code_.span.begin);
}

uint64_t HotPart::object_of(EffectiveAddr address) {
  RecentName& recent = recent_data_[(address.value >> 12 ^ address.value >> 6) % kRecent];
  if (!recent.span.holds(address.value)) {
    recent.span = symbols_.span_of(address);
    recent.key = symbol_key(recent.span, address);
  }
  return recent.span.symbol != nullptr ? recent.key : kNoObject;
}

void HotPart::named_instruction(const Instruction& instruction) {
  take<true>(instruction);
}

void HotPart::begin_run(uint64_t site, Modes modes, bool has_ra, RealAddr ra) {
  count_run();
  run_ = {.site = site,
          .modes = modes,
          .in_unknown_memory = !has_ra,
          .memory = has_ra ? owners_.around(ra) : Memory{.entry = &owners_.unknown()},
          .data_before = mix_.data_accesses};
}

void HotPart::count_run() {
  if (run_.count == 0) return;
  run_.memory.entry->count += run_.count;
  mix_.privileges[static_cast<size_t>(privilege_of(run_.modes))] += run_.count;
  if (run_.site == kNoSite) {
    mix_.code_without_address += run_.count;
    return;
  }
  HotCode& hot = code_.at({run_.site});
  hot.count += run_.count;
  hot.data += mix_.data_accesses - run_.data_before;
}

void HotPart::finish() {
  count_run();
  run_ = {};
}

void HotPart::clear() {
  run_ = {};
  mix_ = {};
  data_.clear();
  code_.clear();
  owners_.clear_counts();
  walks_.clear();
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/analysis/hot_part.h"

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
      named_(!symbols.empty()),
      cursor_(symbols) {
  if (owners != nullptr) begin_trace(*owners);
}

uint64_t HotPart::named_site_of(EffectiveAddr address) {
  if (!recent_code_.span.holds(address.value)) {
    recent_code_.span = symbols_.code_span_of(address);
    recent_code_.key = symbol_key(recent_code_.span, address);
  }
  if (recent_code_.span.symbol != nullptr) return recent_code_.key;
  return address.value & ~(words::kLineBytes - 1);
}

uint64_t HotPart::object_of(EffectiveAddr address) {
  RecentName& recent = recent_data_[(address.value >> 12 ^ address.value >> 6) % kRecent];
  if (!recent.span.holds(address.value)) {
    recent.span = symbols_.span_of(address);
    recent.key = symbol_key(recent.span, address);
  }
  return recent.span.symbol != nullptr ? recent.key : kNoObject;
}

// The trace enters the code with the key `site`.
void HotPart::run(uint64_t site) {
  count_code();
  running_ = site;
}

void HotPart::count_code() {
  if (run_.count == 0) return;
  HotCode& hot = code_.at({running_});
  hot.count += run_.count;
  hot.data += run_.data;
  run_ = {};
}

void HotPart::finish() {
  count_code();
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

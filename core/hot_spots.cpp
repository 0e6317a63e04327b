// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/hot_spots.h"

#include "core/core_words.h"

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

std::optional<uint64_t> address_of(const DataAccess& data, DataKey key) {
  switch (key) {
    case DataKey::kLogical:
      return data.has_la ? std::optional(data.la.value) : std::nullopt;
    case DataKey::kReal:
      return data.has_ra ? std::optional(data.ra.value) : std::nullopt;
    case DataKey::kEffective:
      break;
  }
  return data.ea.value;
}

HotSpots::HotSpots(Wishes wishes, const SymbolTable& symbols)
    : wishes_(std::move(wishes)), symbols_(symbols), code_(wishes_.entries) {
  for (size_t i = 0; i < wishes_.units.size(); i++) data_.emplace_back(wishes_.entries);
}

uint64_t HotSpots::site_of(const Instruction& instruction) {
  const uint64_t address = instruction.ea.value;
  if (recent_ != nullptr && address - recent_->address < recent_->size_bytes) {
    return recent_->address;
  }
  if (const SymbolTable::Symbol* symbol = symbols_.find(instruction.ea)) {
    recent_ = symbol;
    return symbol->address;
  }
  return address & ~(words::kLineBytes - 1);
}

void HotSpots::count_data(const DataAccess& access, InstructionClass kind,
                          std::optional<uint64_t> site) {
  data_accesses_++;
  (access.has_ra ? owners_.at(access.ra) : owners_.unknown()).data++;
  const std::optional<uint64_t> address = address_of(access, wishes_.key);
  if (!address) {
    data_without_address_++;
    return;
  }
  for (size_t i = 0; i < data_.size(); i++) {
    HotData& hot = data_[i].at(*address & ~(wishes_.units[i] - 1));
    hot.count++;
    hot.loads += kind == InstructionClass::kLoad ? 1 : 0;
    hot.stores += kind == InstructionClass::kStore ? 1 : 0;
    hot.atomics += kind == InstructionClass::kAtomic ? 1 : 0;
    hot.lowest_ea = std::min(hot.lowest_ea, access.ea.value);
    if (site) hot.sites.add(*site);
  }
}

void HotSpots::instruction(const Instruction& instruction) {
  const InstructionClass kind = class_of(instruction);
  instructions_++;
  classes_.at(static_cast<size_t>(kind))++;
  privileges_.at(static_cast<size_t>(privilege_of(instruction.modes)))++;
  (instruction.has_ra ? owners_.at(instruction.ra) : owners_.unknown()).count++;
  std::optional<uint64_t> site;
  if (instruction.has_ea) {
    site = site_of(instruction);
    HotCode& hot = code_.at(*site);
    hot.count++;
    hot.data += instruction.data_count;
  } else {
    code_without_address_++;
  }
  for (unsigned i = 0; i < instruction.data_count; i++) {
    count_data(instruction.data.at(i), kind, site);
  }
}

}  // namespace htmtrace

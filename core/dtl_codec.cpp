// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/dtl_codec.h"

#include <algorithm>
#include <array>

#include "core/packed_numbers.h"

namespace htmtrace {
namespace {

// How long a virtual processor waits, and where it stopped, depends on why it stopped: entries with
// the same preempt reason have columns of their own for this. Reasons from this one on share.
constexpr size_t kGroups = 16;

size_t group_of(uint64_t reasons) {
  return std::min<size_t>(reasons & 0xff, kGroups - 1);
}

// The entries of each group, one group behind the other.
class Groups {
 public:
  explicit Groups(std::span<const uint64_t> reasons) : places_(reasons.size()) {
    for (const uint64_t each : reasons) ends_[group_of(each)]++;
    size_t begin = 0;
    for (size_t& end : ends_) {
      const size_t count = end;
      end = begin;
      begin += count;
    }
    for (size_t i = 0; i < reasons.size(); i++) {
      places_[ends_[group_of(reasons[i])]++] = static_cast<uint16_t>(i);
    }
  }

  std::span<const uint16_t> of(size_t group) const {
    const size_t begin = group == 0 ? 0 : ends_[group - 1];
    return std::span(places_).subspan(begin, ends_[group] - begin);
  }

 private:
  std::array<size_t, kGroups> ends_{};
  std::vector<uint16_t> places_;
};

}  // namespace

void pack_dtl_entries(std::span<const DtlEntry> entries, std::vector<std::byte>& to) {
  std::vector<uint64_t> column(entries.size());
  const auto gather = [&](auto get) -> std::span<const uint64_t> {
    for (size_t i = 0; i < entries.size(); i++) column[i] = get(entries[i]);
    return column;
  };
  pack_repeated(gather([](const DtlEntry& e) { return e.processor_id; }), to);
  pack_repeated(gather([](const DtlEntry& e) { return e.srr1; }), to);
  uint64_t before = 0;
  pack_numbers(gather([&](const DtlEntry& e) {
                 const uint64_t since = e.timebase - before;
                 before = e.timebase;
                 return since;
               }),
               to);
  const auto reasons = gather([](const DtlEntry& e) {
    return static_cast<uint64_t>(e.dispatch_reason) << 8 | e.preempt_reason;
  });
  pack_repeated(reasons, to);
  const Groups groups(reasons);
  for (size_t group = 0; group < kGroups; group++) {
    const auto places = groups.of(group);
    if (places.empty()) continue;
    const auto pick = [&](auto get) -> std::span<const uint64_t> {
      for (size_t i = 0; i < places.size(); i++) column[i] = get(entries[places[i]]);
      return std::span(column).first(places.size());
    };
    pack_numbers(pick([](const DtlEntry& e) { return e.enqueue_to_dispatch; }), to);
    pack_numbers(pick([](const DtlEntry& e) { return e.ready_to_enqueue; }), to);
    pack_numbers(pick([](const DtlEntry& e) { return e.waiting_to_ready; }), to);
    pack_repeated(pick([](const DtlEntry& e) { return e.srr0; }), to);
    pack_repeated(pick([](const DtlEntry& e) { return e.fault_address; }), to);
  }
}

bool unpack_dtl_entries(std::span<const std::byte> packed, std::span<DtlEntry> entries) {
  std::array<uint64_t, kMostDtlEntries> numbers;
  const std::span column = std::span(numbers).first(entries.size());
  NumberReader reader(packed);
  reader.repeated(column);
  for (size_t i = 0; i < column.size(); i++) {
    entries[i].processor_id = static_cast<uint16_t>(column[i]);
  }
  reader.repeated(column);
  for (size_t i = 0; i < column.size(); i++) entries[i].srr1 = column[i];
  reader.numbers(column);
  uint64_t timebase = 0;
  for (size_t i = 0; i < column.size(); i++) entries[i].timebase = timebase += column[i];
  reader.repeated(column);
  for (size_t i = 0; i < column.size(); i++) {
    entries[i].dispatch_reason = static_cast<uint8_t>(column[i] >> 8);
    entries[i].preempt_reason = static_cast<uint8_t>(column[i]);
  }
  const Groups groups(column);
  for (size_t group = 0; group < kGroups && reader.ok(); group++) {
    const auto places = groups.of(group);
    if (places.empty()) continue;
    const std::span part = std::span(numbers).first(places.size());
    const auto scatter = [&](auto set) {
      for (size_t i = 0; i < places.size(); i++) set(entries[places[i]], part[i]);
    };
    reader.numbers(part);
    scatter([](DtlEntry& e, uint64_t v) { e.enqueue_to_dispatch = static_cast<uint32_t>(v); });
    reader.numbers(part);
    scatter([](DtlEntry& e, uint64_t v) { e.ready_to_enqueue = static_cast<uint32_t>(v); });
    reader.numbers(part);
    scatter([](DtlEntry& e, uint64_t v) { e.waiting_to_ready = static_cast<uint32_t>(v); });
    reader.repeated(part);
    scatter([](DtlEntry& e, uint64_t v) { e.srr0 = v; });
    reader.repeated(part);
    scatter([](DtlEntry& e, uint64_t v) { e.fault_address = v; });
  }
  return reader.ok() && reader.at_end();
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/dispatch_log/codec.h"

#include "core/base/packed_numbers.h"

namespace htmtrace {

void pack_dtl_entries(std::span<const DtlEntry> entries, std::vector<std::byte>& to) {
  DtlPackHints hints;
  pack_dtl_entries(DtlColumns(entries), to, hints);
}

void pack_dtl_entries(const DtlColumns& columns, std::vector<std::byte>& to, DtlPackHints& hints) {
  pack_repeated(columns.of(columns.processor), to, &hints.processor);
  pack_repeated(columns.of(columns.srr1), to, &hints.srr1);
  pack_numbers(columns.of(columns.since), to);
  pack_repeated(columns.of(columns.reasons), to, &hints.reasons);
  for (size_t i = 0; i < DtlGroups::kGroups; i++) {
    const DtlGroups::Group& group = columns.groups.all()[i];
    if (group.count == 0) continue;
    DtlPackHints::Group& of_group = hints.groups[i];
    pack_numbers(DtlColumns::of(columns.enqueue_to_dispatch, group), to);
    pack_numbers(DtlColumns::of(columns.ready_to_enqueue, group), to);
    pack_numbers(DtlColumns::of(columns.waiting_to_ready, group), to);
    pack_repeated(DtlColumns::of(columns.srr0, group), to, &of_group.srr0);
    pack_repeated(DtlColumns::of(columns.fault_address, group), to, &of_group.fault_address);
  }
}

bool unpack_dtl_entries(std::span<const std::byte> packed, size_t count, DtlColumns& columns) {
  columns.size = count;
  NumberReader reader(packed);
  reader.repeated(columns.of(columns.processor));
  reader.repeated(columns.of(columns.srr1));
  reader.numbers(columns.of(columns.since));
  reader.repeated(columns.of(columns.reasons));
  columns.groups.assign(count, [&](size_t i) { return columns.preempt_reason_of(i); });
  for (const DtlGroups::Group& group : columns.groups.all()) {
    if (group.count == 0) continue;
    reader.numbers(DtlColumns::of(columns.enqueue_to_dispatch, group));
    reader.numbers(DtlColumns::of(columns.ready_to_enqueue, group));
    reader.numbers(DtlColumns::of(columns.waiting_to_ready, group));
    reader.repeated(DtlColumns::of(columns.srr0, group));
    reader.repeated(DtlColumns::of(columns.fault_address, group));
  }
  return reader.ok() && reader.at_end();
}

bool unpack_dtl_entries(std::span<const std::byte> packed, std::span<DtlEntry> entries) {
  DtlColumns columns;
  const bool valid = unpack_dtl_entries(packed, entries.size(), columns);
  columns.copy_to(entries);
  return valid;
}

}  // namespace htmtrace

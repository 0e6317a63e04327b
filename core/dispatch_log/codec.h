// SPDX-License-Identifier: GPL-2.0-or-later
// Packs a block of dispatch trace log entries, oldest first, without loss. htmtrace-dtl(5)
// describes the format.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "core/base/packed_numbers.h"
#include "core/dispatch_log/columns.h"
#include "core/dispatch_log/entry.h"

namespace htmtrace {

// Hints for the columns of the next block, from the preceding blocks of the same virtual processor.
struct DtlPackHints {
  struct Group {
    RepeatedHint srr0, fault_address;
  };

  RepeatedHint processor, srr1, reasons;
  std::array<Group, DtlGroups::kGroups> groups;
};

// Appends the packed entries to `to`. Uses and updates `hints`. Hints with their initial values do
// not affect the packed bytes.
void pack_dtl_entries(const DtlColumns& entries, std::vector<std::byte>& to, DtlPackHints& hints);
// The same without hints. Accepts up to kMostDtlEntries entries.
void pack_dtl_entries(std::span<const DtlEntry> entries, std::vector<std::byte>& to);

// Fills `entries` with `count` entries, up to kMostDtlEntries. Returns false if `packed` does not
// hold exactly this number of entries; the contents of `entries` are then meaningless. Accepts any
// bytes.
bool unpack_dtl_entries(std::span<const std::byte> packed, size_t count, DtlColumns& entries);
// The same; entries.size() is the count.
bool unpack_dtl_entries(std::span<const std::byte> packed, std::span<DtlEntry> entries);

}  // namespace htmtrace

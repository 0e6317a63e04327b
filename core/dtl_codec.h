// SPDX-License-Identifier: GPL-2.0-or-later
// Dispatch trace log entries in few bytes: a block of them, oldest first, without loss. The form is
// described in htmtrace-dtl(5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/dtl_entry.h"

namespace htmtrace {

// A block has so many entries at most.
inline constexpr size_t kMostDtlEntries = 4096;

// Appends the form of up to kMostDtlEntries entries to `to`.
void pack_dtl_entries(std::span<const DtlEntry> entries, std::vector<std::byte>& to);

// Fills `entries`, up to kMostDtlEntries. False when `packed` is no form of so many: then what is
// in `entries` makes no sense. Any bytes will do.
bool unpack_dtl_entries(std::span<const std::byte> packed, std::span<DtlEntry> entries);

}  // namespace htmtrace

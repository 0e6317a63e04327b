// SPDX-License-Identifier: GPL-2.0-or-later
// Packs a block of dispatch trace log entries, oldest first, without loss. htmtrace-dtl(5)
// describes the format.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "core/base/packed_numbers.h"
#include "core/dispatch_log/entry.h"

namespace htmtrace {

// The maximum number of entries in a block.
inline constexpr size_t kMostDtlEntries = 4096;

// Hints for the columns of the next block, from the preceding blocks of the same virtual processor.
struct DtlPackHints {
  static constexpr size_t kColumns = 35;
  std::array<RepeatedHint, kColumns> columns;
};

// Appends up to kMostDtlEntries packed entries to `to`. Uses and updates `hints`, which may be
// null.
void pack_dtl_entries(std::span<const DtlEntry> entries, std::vector<std::byte>& to,
                      DtlPackHints* hints = nullptr);

// Fills `entries`, up to kMostDtlEntries. Returns false if `packed` does not hold exactly this
// number of entries; the contents of `entries` are then meaningless. Accepts any bytes.
bool unpack_dtl_entries(std::span<const std::byte> packed, std::span<DtlEntry> entries);

}  // namespace htmtrace

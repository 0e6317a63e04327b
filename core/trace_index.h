// SPDX-License-Identifier: GPL-2.0-or-later
// Places at which the decoding of a trace can begin with the result that it has when it comes from
// the first byte, and what was before them. htmtrace-index(5).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/file_identity.h"
#include "core/nest_decoder.h"
#include "core/power8_translation.h"
#include "core/selection.h"

namespace htmtrace {

// Of a core trace: before an IEARA, where the decoder is settled (core/trace_parts.h), or before a
// POWER8 instruction with its address.
struct CoreRestart {
  uint64_t offset = 0;  // in the trace, from its oldest byte
  TracePlace place;
  uint64_t pages = 0;  // of the index, so many were told before it
  bool operator==(const CoreRestart&) const = default;
};

struct CoreIndex {
  struct FirstMark {
    uint64_t value = 0;
    uint64_t offset = 0;  // of the first MARK that has it
    bool operator==(const FirstMark&) const = default;
  };
  FileIdentity file;          // an index is of one state of one file
  uint64_t oldest = 0;        // where the trace begins in the file, if its buffer had wrapped
  uint64_t instructions = 0;  // of the whole trace
  std::vector<CoreRestart> restarts;
  std::vector<FirstMark> marks;
  std::vector<Power8Page> pages;  // what was told of them, from place to place
  bool operator==(const CoreIndex&) const = default;
};

// Of a nest trace each engine has its own.
struct NestIndex {
  FileIdentity file;
  nest::Layout layout = nest::Layout::kUnknown;
  std::array<std::vector<nest::Restart>, 2> restarts;
  bool operator==(const NestIndex&) const = default;
};

std::vector<std::byte> pack(const CoreIndex& index);
std::vector<std::byte> pack(const NestIndex& index);

// Nothing when the bytes are no such index, of another version, or damaged.
std::optional<CoreIndex> unpack_core_index(std::span<const std::byte> bytes);
std::optional<NestIndex> unpack_nest_index(std::span<const std::byte> bytes);

// Nothing of such a selection lies before some place that an index may know.
bool may_begin_late(const Selection& selection);

// The last place before which nothing is selected, and not more than `limit` instructions are, with
// that before it; null: the first byte.
const CoreRestart* restart_for(const CoreIndex& index, const Selection& selection, uint64_t limit,
                               Lead lead = Lead::kNone);

// What was told before the restart, which is one of the index.
std::span<const Power8Page> pages_before(const CoreIndex& index, const CoreRestart& restart);

// Likewise of each engine, and where it needs not be read any further.
struct NestStretch {
  std::array<const nest::Restart*, 2> from{};
  std::array<uint64_t, 2> until{Selection::kAny, Selection::kAny};
};
NestStretch stretch_for(const NestIndex& index, const Selection& selection);

}  // namespace htmtrace

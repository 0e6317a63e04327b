// SPDX-License-Identifier: GPL-2.0-or-later
// Restarts: offsets at which a decoder can start and still produce the same events as from the
// first byte, with the decoder's state. htmtrace-index(5).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/file_identity.h"
#include "core/core_trace/power8_translation.h"
#include "core/core_trace/sink.h"
#include "core/nest_trace/decoder.h"
#include "core/selection/selection.h"

namespace htmtrace {

// A restart of a core trace. The next words are an IEARA (CoreDecoder::settled()) or a POWER8
// instruction with its address (CoreDecoder::settled_but_for_pages()).
struct CoreRestart {
  uint64_t offset = 0;  // in the trace, counted from its oldest byte
  TracePlace place;
  uint64_t pages = 0;  // number of the index's pages that precede the restart
  bool operator==(const CoreRestart&) const = default;
};

struct CoreIndex {
  struct FirstMark {
    uint64_t value = 0;
    uint64_t offset = 0;  // offset of the first MARK with this value
    bool operator==(const FirstMark&) const = default;
  };
  FileIdentity file;          // an index describes one state of one file
  uint64_t oldest = 0;        // offset of the oldest byte in the file, if the buffer wrapped
  uint64_t instructions = 0;  // number of instructions in the whole trace
  std::vector<CoreRestart> restarts;
  std::vector<FirstMark> marks;
  std::vector<Power8Page> pages;  // changes of known pages, in restart order
  bool operator==(const CoreIndex&) const = default;
};

// Each engine of a nest trace has its own restarts.
struct NestIndex {
  FileIdentity file;
  nest::Layout layout = nest::Layout::kUnknown;
  std::array<std::vector<nest::Restart>, 2> restarts;
  bool operator==(const NestIndex&) const = default;
};

std::vector<std::byte> pack(const CoreIndex& index);
std::vector<std::byte> pack(const NestIndex& index);

// Returns nothing if the bytes are not such an index, are of another version, or are damaged.
std::optional<CoreIndex> unpack_core_index(std::span<const std::byte> bytes);
std::optional<NestIndex> unpack_nest_index(std::span<const std::byte> bytes);

// True if the selection may skip the start of the trace, so that an index can help.
bool may_begin_late(const Selection& selection);

// The last restart before which nothing is selected, at most `limit` instructions precede, and the
// requested lead is available. Null stands for the first byte.
const CoreRestart* restart_for(const CoreIndex& index, const Selection& selection, uint64_t limit,
                               Lead lead = Lead::kNone);

// The page changes that precede `restart`, which must be an element of the index.
std::span<const Power8Page> pages_before(const CoreIndex& index, const CoreRestart& restart);

// For each engine, the last restart before which nothing is selected, and the offset at which
// reading can stop.
struct NestStretch {
  std::array<const nest::Restart*, 2> from{};
  std::array<uint64_t, 2> until{Selection::kAny, Selection::kAny};
};
NestStretch stretch_for(const NestIndex& index, const Selection& selection);

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
// What ParallelDecode (output/print/parallel_decode.h) needs of its caller: limits, where to start,
// where to read and write, and printers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "core/core_trace/power8_translation.h"
#include "core/core_trace/statistics.h"

namespace htmtrace {

// Small enough that the part's text stays in a processor's cache.
inline constexpr size_t kPartBytes = 128 << 10;

// The text that waits for its place in the output may take this much.
inline constexpr uint64_t kMostWaitingText = 128 << 20;
// The memory of the text of one part. Printers put about 200 characters for an instruction, which
// takes at least 8 bytes in the trace. A part whose text exceeds half of this size is decoded again
// when its position in the output is reached.
inline constexpr size_t kMostPartText = 64 * kPartBytes;
// More threads would wait, because each part that is not decoded yet may have the longest text.
inline constexpr unsigned kMostDecodeThreads = kMostWaitingText / kMostPartText;

struct ParallelLimits {
  uint64_t text_bytes = kMostWaitingText;
  size_t part_bytes = kPartBytes;
  // A part is decoded in pieces of this size, and its text is checked after each piece. Only names
  // make text that is longer than kMostPartText.
  size_t feed_bytes = kPartBytes;
};

// One thread calls these functions, in the order of the trace. They may throw Error.
struct DecodeStreams {
  std::function<size_t(std::span<std::byte>)> read;  // returns 0 at the end
  std::function<bool(std::string_view)> write;  // returns false if the reader wants no more text
  // `offset` is the end of the printed trace. `so_far` holds the counts up to an earlier offset.
  std::function<void(uint64_t offset, const CoreStatistics& so_far)> progress;
};

// A printer whose text of an instruction depends on the preceding or the next instruction:
//   void start_inside(): the part does not contain the first event of the trace
//   bool can_follow(const Printer& earlier) const: after the part, whether follow() can join it to
//     the preceding part, whose printer is `earlier`
//   void follow(Printer& earlier): completes the text of the preceding part in the output of
//     `earlier`, and adds its counts
//   void finish(): the trace has ended
template <class Printer>
concept FollowsPrinter = requires(Printer& printer, Printer& earlier) {
  printer.start_inside();
  printer.follow(earlier);
};

// A printer that also passes on results other than text:
//   void deliver(): passes the results of the part on. The thread that reads and writes calls it in
//     the order of the trace, and once more after the end.
template <class Printer>
concept DeliversPrinter = requires(Printer& printer) {
  printer.deliver();
};

// The start of decoding (CoreDecoder::start_at()).
struct DecodeStart {
  uint64_t offset = 0;  // in the trace
  std::span<const Power8Page> pages = {};
};

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
// tests/damage and tests/differential check that the output equals the output of one thread.
#include "output/print/parallel_decode.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/core_trace/plain_counts.h"
#include "core/memory_map/translation.h"
#include "core/selection/selection.h"
#include "output/print/open_parts.h"
#include "output/print/selected_printer.h"
#include "output/print/text_printer.h"
#include "tests/damage/part_streams.h"
#include "tests/encoder/power10.h"
#include "tests/generator/generated_trace.h"

namespace htmtrace {
namespace {

std::vector<std::byte> trace_of(size_t least_bytes) {
  generator::Power10Program program(1, {});
  std::vector<uint64_t> words{power10_record(0)};
  while (words.size() * 8 < least_bytes) program.next(words, false);
  return generator::bytes_of(words);
}

}  // namespace

TEST_CASE("256 threads read at most 8 MiB ahead of the output") {
  // Small parts make the test fast. The number of parts does not depend on their size.
  constexpr size_t kSmallPart = 4096;
  constexpr uint64_t kMostAhead = (8 << 20) / (kPartBytes / kSmallPart);
  const std::vector<std::byte> trace = trace_of(4 * kMostAhead);
  const TranslationMap map;
  ParallelDecode decode(
      map, [](TextOutput&) { return CountingSink(); }, 256,
      {.text_bytes = uint64_t{1} << 40, .part_bytes = kSmallPart, .feed_bytes = kSmallPart});

  std::span<const std::byte> left(trace);
  uint64_t read = 0, passed_on = 0, most_ahead = 0;
  const std::optional<CoreStatistics> statistics = decode.run({
      .read =
          [&](std::span<std::byte> buffer) {
            const size_t got = std::min(buffer.size(), left.size());
            std::copy_n(left.begin(), got, buffer.begin());
            left = left.subspan(got);
            read += got;
            most_ahead = std::max(most_ahead, read - passed_on);
            return got;
          },
      .write = [](std::string_view) { return true; },
      .progress = [&](uint64_t offset, const CoreStatistics&) { passed_on = offset; },
  });
  REQUIRE(statistics);
  CHECK(statistics->bytes == trace.size());
  CHECK(most_ahead <= kMostAhead);
}

TEST_CASE("a failed read ahead counts only if its bytes are needed") {
  constexpr size_t kReadable = 1 << 20;
  const std::vector<std::byte> trace = trace_of(kReadable);
  const TranslationMap map;
  for (const uint64_t first : {uint64_t{100}, Selection::kAny}) {
    Selection selection;
    selection.first = first;
    OpenParts parts(selection, {});
    const auto printer = [&](TextOutput& output) {
      return SelectedPrinter<TextPrinter>([](TextOutput& to) { return TextPrinter(to, {}); },
                                          output, parts, nullptr);
    };
    ParallelDecode decode(map, printer, 2);
    std::string text;
    DecodeStreams streams = streams_of(trace, text);
    streams.read = [read = streams.read](std::span<std::byte> buffer) {
      const size_t got = read(buffer);
      if (got == 0) throw Error("unreadable");
      return got;
    };
    if (first == Selection::kAny) {
      CHECK_THROWS_AS(decode.run(streams), Error);
      // What was read is printed.
      CHECK(static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) > kReadable / 100);
    } else {
      CHECK(decode.run(streams));
      CHECK(decode.left_rest());
      CHECK(std::count(text.begin(), text.end(), '\n') == 100);
    }
  }
}

}  // namespace htmtrace

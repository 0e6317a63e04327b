// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/core_trace/decoder.h"
#include "core/core_trace/plain_counts.h"
#include "output/export/qtrace_writer.h"
#include "output/io/text_output.h"
#include "output/print/parallel_decode.h"
#include "output/print/text_printer.h"
#include "output/report/decode_report.h"
#include "tests/damage/damaged_traces.h"
#include "tests/damage/damages.h"
#include "tests/damage/part_streams.h"
#include "tests/damage/time_limit.h"

namespace htmtrace {
namespace {

using generator::Random;

template <class Program>
Bytes valid_trace(uint64_t seed) {
  Program program(seed, {});
  std::vector<uint64_t> words;
  for (int i = 0; i < 800; i++) program.next(words, false);
  return generator::bytes_of(words);
}

// Keeps valid tags, and fills the rest of each word with random bits.
void keep_only_tags(Bytes& trace, Random& random) {
  for (size_t at = 0; at + 8 <= trace.size(); at += 8) {
    const uint64_t word = load_be64(trace.data() + at);
    if (words::is_power8(word) || words::is_power10(word) || words::is_stamp(word)) continue;
    put_random_word(trace, at, random);
  }
}

// Writes consecutive tags of all kinds.
void only_headers(Bytes& trace, Random& random) {
  for (size_t at = 0; at + 8 <= trace.size(); at += 8) {
    uint64_t word = random.next();
    switch (random.below(6)) {
      case 0:
        word = (word & ~(uint64_t{0xfffff} << 8)) | uint64_t{0xabcde} << 8;
        break;
      case 1:
        word = (word & 0x00000fffffffffff) | uint64_t{0xaceff} << 44;
        break;
      case 2:
        word = (word & 0x0000000000000007) | 0x3ffe123456789000;
        break;
      default:
        word = (word & ~(uint64_t{0xfffff} << 8)) | uint64_t{0xabcdf} << 8;
        break;
    }
    store_be64(trace.data() + at, word);
  }
}

constexpr Damage kToCoreTraces[] = {keep_only_tags, only_headers};

template <class Sink>
std::string counts_of(const Bytes& trace, size_t piece, const TranslationMap& map, Sink& sink) {
  CoreDecoder decoder(map, sink);
  for (size_t at = 0; at < trace.size(); at += piece) {
    decoder.feed(std::span(trace).subspan(at, std::min(piece, trace.size() - at)));
  }
  decoder.finish();
  return describe(decoder.statistics());
}

// The counting decoder must count the same as the printing decoder.
void compare_counts(const Bytes& trace, size_t piece, TextOutput& output) {
  const TranslationMap map(generator::translation_file(), 0);
  CountingSink counting;
  TextPrinter printer(output, {});
  const std::string counted = counts_of(trace, piece, map, counting);
  const std::string printed = counts_of(trace, piece, map, printer);
  if (counted == printed) return;
  fmt::print(stderr, "damage: a trace of {} bytes is counted differently\n{}\n{}", trace.size(),
             printed, counted);
  std::abort();
}

void decode(const Bytes& trace, size_t piece, TextOutput& output, DecodeTotals& totals) {
  const TranslationMap map(generator::translation_file(), 0);
  TextPrinter printer(output, {.stamps = true, .modes = true});
  CoreDecoder decoder(map, printer);
  decoder.follow_walks();
  for (size_t at = 0; at < trace.size(); at += piece) {
    decoder.feed(std::span(trace).subspan(at, std::min(piece, trace.size() - at)));
  }
  decoder.finish();
  const CoreStatistics& statistics = decoder.statistics();
  if (statistics.bytes != trace.size() || statistics.accounted_bytes() != trace.size()) {
    fmt::print(stderr, "damage: of {} bytes {} are accounted for\n", trace.size(),
               statistics.accounted_bytes());
    std::abort();
  }
  totals.add(statistics);
}

TextPrinter whole_lines(TextOutput& output) {
  return {output, {.stamps = true, .modes = true}};
}

QtraceWriter with_real_pages(TextOutput& output) {
  return {output, QtraceWriter::Pages::kReal};
}
QtraceWriter with_logical_pages(TextOutput& output) {
  return {output, QtraceWriter::Pages::kLogical};
}

std::string printed_counts(const TextPrinter&) {
  return {};
}
std::string printed_counts(const QtraceWriter& writer) {
  return describe(writer.counts());
}

template <class MakePrinter>
void compare_parts(const Bytes& trace, size_t part_bytes, const MakePrinter& make_printer) {
  const TranslationMap map(generator::translation_file(), 0);
  TextOutput serial = TextOutput::memory();
  auto printer = make_printer(serial);
  CoreDecoder decoder(map, printer);
  decoder.feed(trace);
  decoder.finish();
  if constexpr (FollowsPrinter<decltype(printer)>) printer.finish();

  std::string text;
  ParallelDecode parallel(map, make_printer, 2,
                          {.part_bytes = part_bytes, .feed_bytes = part_bytes / 4 / 8 * 8 + 8});
  const std::optional<CoreStatistics> statistics = parallel.run(streams_of(trace, text));
  if (!statistics || text != serial.text() ||
      describe(*statistics) != describe(decoder.statistics()) ||
      printed_counts(parallel.printer()) != printed_counts(printer)) {
    fmt::print(stderr,
               "damage: threads decode a trace of {} bytes differently in parts of {}\n{}{}\n{}{}",
               trace.size(), part_bytes, describe(decoder.statistics()), printed_counts(printer),
               statistics ? describe(*statistics) : "",
               statistics ? printed_counts(parallel.printer()) : "");
    std::abort();
  }
}

template <class Program>
void run(const char* format, unsigned count) {
  TextOutput output = TextOutput::create("/dev/null", Existing::kReplace);
  DecodeTotals totals;
  for (unsigned i = 0; i < count; i++) {
    Random random(i);
    Bytes trace = valid_trace<Program>(i);
    damage(trace, kToCoreTraces, i, random);
    const TimeLimit limit;
    decode(trace, random.chance(500) ? 1 + random.below(200) : 1 << 20, output, totals);
    const size_t part_bytes = 8 * (32 + random.below(1000));
    compare_parts(trace, part_bytes, whole_lines);
    if (i % 4 == 1) compare_parts(trace, part_bytes, with_real_pages);
    if (i % 4 == 3) compare_parts(trace, part_bytes, with_logical_pages);
    compare_counts(trace, 8 + random.below(10000), output);
  }
  output.finish();
  fmt::print("{}: {} damaged core traces: {}\n", format, count, describe(totals));
}

}  // namespace

void decode_damaged_core_traces(unsigned count) {
  run<generator::Power10Program>("POWER10", count);
  run<generator::Power8Program>("POWER8", count);
}

}  // namespace htmtrace

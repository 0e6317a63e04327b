// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/nest_trace/counter.h"
#include "core/nest_trace/decoder.h"
#include "core/nest_trace/layout.h"
#include "output/print/nest_printer.h"
#include "tests/damage/damaged_traces.h"
#include "tests/damage/damages.h"
#include "tests/damage/time_limit.h"
#include "tests/generator/bus_trace.h"
#include "tests/generator/nest_trace.h"

namespace htmtrace {
namespace {

using generator::Random;
using nest::Layout;

constexpr unsigned kRecords = 2000;

// Keeps the type of each record, and fills the rest with random bits.
void keep_only_types(Bytes& trace, Random& random) {
  for (size_t at = 0; at + nest::kRecordBytes <= trace.size(); at += nest::kRecordBytes) {
    const uint64_t type = load_be64(trace.data() + at) >> 62;
    store_be64(trace.data() + at, type << 62 | random.next() >> 2);
    put_random_word(trace, at + 8, random);
  }
}

// Writes consecutive tags for losses and time of all kinds (core/core_trace/words.h), with random
// words in between.
void only_stamps(Bytes& trace, Random& random) {
  for (size_t at = 0; at + nest::kRecordBytes <= trace.size(); at += nest::kRecordBytes) {
    constexpr uint64_t kCompanion = uint64_t{0xabcde} << 8, kStamp = uint64_t{0xaceff} << 44;
    constexpr uint64_t kTag = uint64_t{0xfffff};
    store_be64(trace.data() + at, (random.next() >> 2 & ~(kTag << 8)) | kCompanion);
    store_be64(trace.data() + at + 8, (random.next() & ~(kTag << 44)) | kStamp);
  }
}

constexpr Damage kToNestTraces[] = {keep_only_types, only_stamps};

// Makes random records of every kind, or a plausible bus trace with all names and with open
// commands that share keys.
Bytes random_trace(Layout layout, Random& random) {
  if (random.chance(500))
    return generator::bytes_of(generator::nest_words(random, layout, kRecords));
  const bool power8 = layout == Layout::kPower8;
  const uint64_t begin = power8 ? 0 : random.below(uint64_t{1} << nest::kTimerBits);
  return generator::bytes_of(
      generator::random_bus_trace(random, power8, power8 ? 0 : 1, kRecords, begin).words);
}

struct Decoded {
  std::string text;
  nest::Statistics statistics;
  std::optional<nest::Restart> restart;  // restart at the requested position
};

// Decodes from `from` to the end in pieces of this size. Prints no text ahead of `place`.
class Decoding {
 public:
  Decoding(Layout layout, const Bytes& trace, NestPrinter::Format format)
      : layout_(layout), trace_(trace), format_(format) {}

  Decoded run(size_t piece, size_t place, const nest::Restart* from) const {
    Decoded decoded;
    TextOutput output = TextOutput::memory();
    NestPrinter printer(output, layout_, {.format = format_, .stamps = true, .target = "x"});
    nest::Decoder decoder(layout_, 1);
    if (from != nullptr) decoder.begin_at(*from);
    const auto print_ready = [&] {
      const std::span<const nest::Event> ready = decoder.ready();
      for (const nest::Event& event : ready) {
        if (event.offset >= place) printer.event(event, std::nullopt);
      }
      decoder.drop(ready.size());
    };
    size_t at = from != nullptr ? from->offset : 0;
    while (at < trace_.size()) {
      if (at == place) decoded.restart = decoder.restart();
      const size_t end = std::min(trace_.size(), at + piece);
      const size_t next = at < place ? std::min(place, end) : end;
      decoder.take(std::span(trace_).subspan(at, next - at), at);
      print_ready();
      at = next;
    }
    decoder.finish();
    print_ready();
    decoded.text = output.text();
    decoded.statistics = decoder.statistics();
    return decoded;
  }

 private:
  Layout layout_;
  const Bytes& trace_;
  NestPrinter::Format format_;
};

[[noreturn]] void fail(const Bytes& trace, const char* what) {
  fmt::print(stderr, "damage: a bus trace of {} bytes {}\n", trace.size(), what);
  std::abort();
}

void compare_counts(Layout layout, const Bytes& trace, size_t piece,
                    const nest::Statistics& printed) {
  const TranslationMap no_map;
  nest::Counter counter(layout, 1, no_map);
  for (size_t at = 0; at < trace.size(); at += piece) {
    counter.take(std::span(trace).subspan(at, std::min(piece, trace.size() - at)));
  }
  nest::Statistics counted = counter.statistics();
  counted.translated = counted.untranslated = 0;  // the decoder does not translate
  if (counted != printed) fail(trace, "is counted differently");
}

// A timer that first appears after the position changes all times. No index has such a position.
void compare_tail(const Decoding& decoding, const Bytes& trace, size_t piece, size_t place) {
  const Decoded whole = decoding.run(piece, place, nullptr);
  if (!whole.restart) return;
  if (whole.statistics.timers != 0 && !whole.restart->timer_heard) return;
  nest::Restart from = *whole.restart;
  from.offset = place;
  if (decoding.run(piece, place, &from).text != whole.text) {
    fail(trace, "is decoded differently from its middle");
  }
}

void run(Layout layout, unsigned count) {
  nest::Statistics totals;
  for (unsigned i = 0; i < count; i++) {
    Random random(i);
    Bytes trace = random_trace(layout, random);
    damage(trace, kToNestTraces, i, random);
    const TimeLimit limit;
    nest::judge_layout(trace);
    const size_t piece = nest::kRecordBytes * (1 + random.below(300));
    const Decoding decoding(layout, trace, static_cast<NestPrinter::Format>(i % 4));
    const Decoded whole = decoding.run(trace.size() + 1, 0, nullptr);
    if (whole.statistics.accounted_bytes() != trace.size()) fail(trace, "is not accounted for");
    if (decoding.run(piece, 0, nullptr).text != whole.text) {
      fail(trace, "is decoded differently in pieces");
    }
    compare_counts(layout, trace, piece, whole.statistics);
    compare_tail(decoding, trace, piece, random.below(kRecords) * nest::kRecordBytes);
    totals.add(whole.statistics);
  }
  fmt::print(
      "{}: {} damaged bus traces: {} commands, {} responses, {} stamps, {} unknown records\n",
      nest::layout_name(layout), count, totals.commands, totals.responses, totals.stamp_records,
      totals.unknown_records);
}

}  // namespace

void decode_damaged_nest_traces(unsigned count) {
  for (const Layout layout : {Layout::kPower8, Layout::kPower9, Layout::kUnknown}) {
    run(layout, count);
  }
}

}  // namespace htmtrace

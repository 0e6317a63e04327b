// SPDX-License-Identifier: GPL-2.0-or-later
// damage COUNT: decodes COUNT damaged traces of each format, as large as a few pages, to text. The
// damage is random but the same on each run. Fails when one takes longer than it may, when a byte
// is not accounted for, when several threads decode it to something else than one, when its summary
// counts something else, or (as the sanitizers see to) when memory is misused.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/core_decoder.h"
#include "core/plain_counts.h"
#include "output/decode_report.h"
#include "output/parallel_decode.h"
#include "output/text_output.h"
#include "output/text_printer.h"
#include "tests/generator/generated_trace.h"

namespace htmtrace {
namespace {

using generator::Random;
using Bytes = std::vector<std::byte>;

constexpr unsigned kSecondsPerInput = 20;  // under sanitizers on a busy machine; usually 0.01

template <class Program>
Bytes valid_trace(uint64_t seed) {
  Program program(seed, {});
  std::vector<uint64_t> words;
  for (int i = 0; i < 800; i++) program.next(words, false);
  return generator::bytes_of(words);
}

void put_random_word(Bytes& trace, size_t at, Random& random) {
  const Bytes word = generator::bytes_of({random.next()});
  std::copy_n(word.begin(), std::min(word.size(), trace.size() - at),
              trace.begin() + static_cast<ptrdiff_t>(at));
}

void flip_bits(Bytes& trace, Random& random) {
  for (uint64_t i = random.below(64) + 1; i != 0; i--) {
    trace[random.below(trace.size())] ^= static_cast<std::byte>(1U << random.below(8));
  }
}

void truncate(Bytes& trace, Random& random) {
  trace.resize(random.below(trace.size()));
}

void replace_words(Bytes& trace, Random& random) {
  for (uint64_t i = random.below(100) + 1; i != 0; i--) {
    put_random_word(trace, random.below(trace.size() / 8) * 8, random);
  }
}

// Valid tags, and nonsense behind each.
void keep_only_tags(Bytes& trace, Random& random) {
  for (size_t at = 0; at + 8 <= trace.size(); at += 8) {
    const uint64_t word = load_be64(trace.data() + at);
    if (words::is_power8(word) || words::is_power10(word) || words::is_stamp(word)) continue;
    put_random_word(trace, at, random);
  }
}

// Tags of all kinds, one behind the other.
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

// Words or bytes are missing, come twice, or are zero.
void cut_out(Bytes& trace, Random& random) {
  for (uint64_t i = random.below(20) + 1; i != 0 && trace.size() > 512; i--) {
    const size_t size = random.chance(900) ? random.below(50) * 8 : random.below(400);
    const auto at = trace.begin() + static_cast<ptrdiff_t>(random.below(trace.size() - size));
    trace.erase(at, at + static_cast<ptrdiff_t>(size));
  }
}

void repeat(Bytes& trace, Random& random) {
  const size_t from = random.below(trace.size() - 512) / 8 * 8;
  const Bytes part(trace.begin() + static_cast<ptrdiff_t>(from),
                   trace.begin() + static_cast<ptrdiff_t>(from + random.below(64) * 8));
  trace.insert(trace.begin() + static_cast<ptrdiff_t>(random.below(trace.size()) / 8 * 8),
               part.begin(), part.end());
}

void zero_page(Bytes& trace, Random& random) {
  const size_t size = std::min<size_t>(4096, trace.size());
  const size_t from = random.below(trace.size() - size + 1);
  std::fill_n(trace.begin() + static_cast<ptrdiff_t>(from), size, std::byte{0});
}

void randomise(Bytes& trace, Random& random) {
  for (std::byte& byte : trace) byte = static_cast<std::byte>(random.next());
}

using Damage = void (*)(Bytes&, Random&);
constexpr Damage kDamages[] = {flip_bits, truncate, replace_words, keep_only_tags, only_headers,
                               cut_out,   repeat,   zero_page,     randomise};

template <class Sink>
std::string counts_of(const Bytes& trace, size_t piece, const TranslationMap& map, Sink& sink) {
  CoreDecoder decoder(map, sink);
  for (size_t at = 0; at < trace.size(); at += piece) {
    decoder.feed(std::span(trace).subspan(at, std::min(piece, trace.size() - at)));
  }
  decoder.finish();
  return describe(decoder.statistics());
}

// Who only counts counts what is counted when all is printed.
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

void compare_parts(const Bytes& trace, size_t part_bytes) {
  const TranslationMap map(generator::translation_file(), 0);
  TextOutput serial = TextOutput::memory();
  TextPrinter printer = whole_lines(serial);
  CoreDecoder decoder(map, printer);
  decoder.feed(trace);
  decoder.finish();

  std::string text;
  std::span<const std::byte> left(trace);
  ParallelDecode parallel(map, whole_lines, 2, part_bytes);
  const std::optional<CoreStatistics> statistics = parallel.run({
      .read =
          [&](std::span<std::byte> buffer) {
            const size_t got = std::min(buffer.size(), left.size());
            std::copy_n(left.begin(), got, buffer.begin());
            left = left.subspan(got);
            return got;
          },
      .write =
          [&](std::string_view more) {
            text += more;
            return true;
          },
      .progress = [](uint64_t, const CoreStatistics&) {},
  });
  if (!statistics || text != serial.text() ||
      describe(*statistics) != describe(decoder.statistics())) {
    fmt::print(stderr,
               "damage: threads decode a trace of {} bytes differently in parts of {}\n{}\n{}",
               trace.size(), part_bytes, describe(decoder.statistics()),
               statistics ? describe(*statistics) : "");
    std::abort();
  }
}

[[noreturn]] void give_up(int) {
  constexpr std::string_view kText = "damage: an input took too long\n";
  if (::write(STDERR_FILENO, kText.data(), kText.size()) < 0) std::_Exit(2);
  std::_Exit(1);
}

template <class Program>
void run(const char* format, unsigned count) {
  TextOutput output = TextOutput::create("/dev/null", /*replace=*/true);
  DecodeTotals totals;
  for (unsigned i = 0; i < count; i++) {
    Random random(i);
    Bytes trace = valid_trace<Program>(i);
    kDamages[i % std::size(kDamages)](trace, random);
    if (random.chance(300) && trace.size() > 1024) kDamages[random.below(8)](trace, random);
    ::alarm(kSecondsPerInput);
    decode(trace, random.chance(500) ? 1 + random.below(200) : 1 << 20, output, totals);
    compare_parts(trace, 8 * (32 + random.below(1000)));
    compare_counts(trace, 8 + random.below(10000), output);
    ::alarm(0);
  }
  output.finish();
  fmt::print("{}: {} damaged traces: {}\n", format, count, describe(totals));
}

}  // namespace
}  // namespace htmtrace

int main(int argc, char** argv) {
  const unsigned count = argc == 2 ? static_cast<unsigned>(std::strtoul(argv[1], nullptr, 10)) : 0;
  if (count == 0) {
    fmt::print(stderr, "usage: damage COUNT\n");
    return 2;
  }
  std::signal(SIGALRM, htmtrace::give_up);
  htmtrace::run<htmtrace::generator::Power10Program>("POWER10", count);
  htmtrace::run<htmtrace::generator::Power8Program>("POWER8", count);
  return 0;
}

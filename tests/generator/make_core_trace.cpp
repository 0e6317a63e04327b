// SPDX-License-Identifier: GPL-2.0-or-later
// make_core_trace power8|power10 SIZE_BYTES TRACE TRANSLATION [SEED]: a random core trace of about
// that size, and the memory map that it needs. The seed also chooses how many stamps there are, and
// whether the trace has companions, walks and interruptions.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/encoder/power10.h"
#include "tests/generator/generated_trace.h"
#include "tests/generator/write_file.h"

using namespace htmtrace::generator;

namespace {

// The options of a benchmark: a trace with time stamps, in which walks are rare because pages are
// large.
constexpr Options kUsual = {.stamps_per_mille = 5, .companions = false, .interruptions = false};

Options random_options(uint64_t seed) {
  Random random(seed);
  return {.stamps_per_mille = std::array{0U, 2U, 20U, 100U}.at(random.below(4)),
          .companions = random.chance(500),
          .walks = random.chance(500),
          .interruptions = random.chance(500)};
}

template <class Program>
void write_trace(Program program, std::FILE* file, const char* name, uint64_t size_bytes) {
  constexpr size_t kPieceWords = 512;
  // Tracing starts with a RECORD stamp.
  write_or_exit(file, bytes_of({power10_record(0)}), name);
  std::vector<uint64_t> words;
  for (uint64_t written = 0; written < size_bytes; written += words.size() * 8) {
    words.clear();
    while (words.size() < kPieceWords) program.next(words, false);
    write_or_exit(file, bytes_of(words), name);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string format = argc == 5 || argc == 6 ? argv[1] : "";
  if (format != "power8" && format != "power10") {
    std::fputs("usage: make_core_trace power8|power10 SIZE_BYTES TRACE TRANSLATION [SEED]\n",
               stderr);
    return 2;
  }
  const uint64_t seed = argc == 6 ? std::strtoull(argv[5], nullptr, 10) : 1;
  const Options options = argc == 6 ? random_options(seed) : kUsual;
  const uint64_t size_bytes = std::strtoull(argv[2], nullptr, 10);
  std::FILE* trace = std::fopen(argv[3], "wb");
  write_or_exit(trace, {}, argv[3]);
  if (format == "power8") {
    write_trace(Power8Program(seed, options), trace, argv[3], size_bytes);
  } else {
    write_trace(Power10Program(seed, options), trace, argv[3], size_bytes);
  }
  std::FILE* translation = std::fopen(argv[4], "wb");
  write_or_exit(translation, translation_file(), argv[4]);
  return std::fclose(trace) == 0 && std::fclose(translation) == 0 ? 0 : 1;
}

// SPDX-License-Identifier: GPL-2.0-or-later
// make_core_trace power8|power10 SIZE_BYTES TRACE TRANSLATION: a random core trace of about that
// size, and the memory map that it needs. For benchmarks.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/encoder/power10.h"
#include "tests/generator/generated_trace.h"
#include "tests/generator/write_file.h"

using namespace htmtrace::generator;

namespace {

template <class Program>
void write_trace(std::FILE* file, const char* name, uint64_t size_bytes) {
  // Tracing starts with a RECORD stamp.
  write_or_exit(file, bytes_of({power10_record(0)}), name);
  // As a trace with time stamps looks; walks are rare where pages are large.
  Program program(1, {.stamps_per_mille = 5, .companions = false, .interruptions = false});
  std::vector<uint64_t> words;
  for (uint64_t written = 0; written < size_bytes; written += words.size() * 8) {
    words.clear();
    while (words.size() < 8192) program.next(words, false);
    write_or_exit(file, bytes_of(words), name);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string format = argc == 5 ? argv[1] : "";
  if (format != "power8" && format != "power10") {
    std::fputs("usage: make_core_trace power8|power10 SIZE_BYTES TRACE TRANSLATION\n", stderr);
    return 2;
  }
  const uint64_t size_bytes = std::strtoull(argv[2], nullptr, 10);
  std::FILE* trace = std::fopen(argv[3], "wb");
  write_or_exit(trace, {}, argv[3]);
  if (format == "power8") {
    write_trace<Power8Program>(trace, argv[3], size_bytes);
  } else {
    write_trace<Power10Program>(trace, argv[3], size_bytes);
  }
  std::FILE* translation = std::fopen(argv[4], "wb");
  write_or_exit(translation, translation_file(), argv[4]);
  return std::fclose(trace) == 0 && std::fclose(translation) == 0 ? 0 : 1;
}

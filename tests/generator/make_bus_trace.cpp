// SPDX-License-Identifier: GPL-2.0-or-later
// make_bus_trace power8|power9 SEED RECORDS TRACE: a random bus trace in which open commands share
// keys, commands have all codes, and retries have all names. Its memory map is that of
// make_core_trace. POWER9 traces have two engines.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/generator/bus_trace.h"
#include "tests/generator/generated_trace.h"
#include "tests/generator/write_file.h"

using namespace htmtrace::generator;

int main(int argc, char** argv) {
  const std::string layout = argc == 5 ? argv[1] : "";
  if (layout != "power8" && layout != "power9") {
    std::fputs("usage: make_bus_trace power8|power9 SEED RECORDS TRACE\n", stderr);
    return 2;
  }
  Random random(std::strtoull(argv[2], nullptr, 10));
  const auto records = static_cast<unsigned>(std::strtoul(argv[3], nullptr, 10));
  const bool power8 = layout == "power8";
  std::vector<uint64_t> words;
  if (power8) {
    words = random_bus_trace(random, true, 0, records, 0).words;
  } else {
    constexpr size_t kLineWords = 16;
    std::vector<uint64_t> engines[2];
    size_t longest = 0;
    for (unsigned i = 0; i < 2; i++) {
      engines[i] = random_bus_trace(random, false, i, records / 2, 1000).words;
      longest = std::max(longest, engines[i].size());
    }
    for (size_t at = 0; at < longest; at += kLineWords) {
      for (std::vector<uint64_t>& engine : engines) {
        engine.resize(std::max(engine.size(), at + kLineWords));
        words.insert(words.end(), engine.begin() + static_cast<ptrdiff_t>(at),
                     engine.begin() + static_cast<ptrdiff_t>(at + kLineWords));
      }
    }
  }
  std::FILE* trace = std::fopen(argv[4], "wb");
  write_or_exit(trace, bytes_of(words), argv[4]);
  return std::fclose(trace) == 0 ? 0 : 1;
}

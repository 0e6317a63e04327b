// SPDX-License-Identifier: GPL-2.0-or-later
// make_listed_trace TRACE TRANSLATION: a POWER10 core trace of the instructions on standard input,
// and the memory map that it needs. A line is an instruction: "ADDRESS WORD [DATA]", hexadecimal. A
// line "tick N" is a stamp with N elapsed ticks, and "lost N" is a stamp that reports N lost
// records. A line "mode kernel" or "mode user" sets the mode of the next instructions, user mode at
// first.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "tests/encoder/power10.h"
#include "tests/generator/generated_trace.h"
#include "tests/generator/write_file.h"

using namespace htmtrace::generator;

namespace {

constexpr uint64_t kUserMsr = 0x800000000000d033, kKernelMsr = 0x8000000000009033;

uint64_t number(const std::string& text, int base) {
  return std::strtoull(text.c_str(), nullptr, base);
}

class ListedTrace {
 public:
  ListedTrace() { words.push_back(power10_record(0)); }

  void put(uint64_t ea, uint32_t word, const std::vector<uint64_t>& data) {
    if (ea / kPower10LineBytes != line_) {
      line_ = ea / kPower10LineBytes;
      uint64_t line[kPower10IearaWords];
      power10_ieara(line, ea, real_of_logical(logical_of_effective(ea)));
      words.insert(words.end(), std::begin(line), std::end(line));
    }
    uint32_t stored = word;
    const bool recoded = power10_recode_branch(word, ea, &stored);
    words.push_back(power10_info(stored, ea, recoded, false,
                                 data.empty() ? kPower10NoOperand : kPower10OnePair));
    words.push_back(power10_msr(msr));
    for (const uint64_t dea : data) {
      words.push_back(dea);
      words.push_back(power10_dra(real_of_logical(logical_of_effective(dea))));
    }
  }

  std::vector<uint64_t> words;
  uint64_t msr = kUserMsr;

 private:
  uint64_t line_ = 0;  // that the trace is in; 0: none
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: make_listed_trace TRACE TRANSLATION\n", stderr);
    return 2;
  }
  ListedTrace trace;
  std::string line, first, second, data;
  while (std::getline(std::cin, line)) {
    std::istringstream parts(line);
    if (!(parts >> first >> second)) continue;
    if (first == "tick") {
      const auto ticks = static_cast<uint32_t>(number(second, 10));
      trace.words.push_back(power10_time(kPower10TimeElapsed, 0, ticks));
    } else if (first == "mode") {
      trace.msr = second == "kernel" ? kKernelMsr : kUserMsr;
    } else if (first == "lost") {
      const auto records = static_cast<uint8_t>(number(second, 10));
      trace.words.push_back(power10_time(kPower10TimeRecordsDropped, records, 0));
    } else {
      std::vector<uint64_t> accesses;
      if (parts >> data) accesses.push_back(number(data, 16));
      trace.put(number(first, 16), static_cast<uint32_t>(number(second, 16)), accesses);
    }
  }
  std::FILE* output = std::fopen(argv[1], "wb");
  write_or_exit(output, bytes_of(trace.words), argv[1]);
  std::FILE* translation = std::fopen(argv[2], "wb");
  write_or_exit(translation, translation_file(), argv[2]);
  return std::fclose(output) == 0 && std::fclose(translation) == 0 ? 0 : 1;
}

// SPDX-License-Identifier: GPL-2.0-or-later
// make_nest_trace SIZE_BYTES TRACE: a POWER9 bus trace of about that size, two engines, commands
// and responses to half of them. For benchmarks; its memory map is that of make_core_trace.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tests/encoder/nest.h"
#include "tests/encoder/power10.h"
#include "tests/generator/generated_trace.h"

using namespace htmtrace::generator;

namespace {

constexpr unsigned kLineRecords = 8;

void put(std::vector<uint64_t>& words, const uint64_t pair[2]) {
  words.push_back(pair[0]);
  words.push_back(pair[1]);
}

// A line of one engine: a read or a write of the own memory, then the response to it.
void put_line(std::vector<uint64_t>& words, Random& random, unsigned engine) {
  for (unsigned i = 0; i < kLineRecords / 2; i++) {
    nest_command command{};
    const uint64_t logical = random.below(uint64_t{kOwnBlocks} * kBlockBytes);
    command.address = (real_of_logical(logical) & ~uint64_t{0xff}) | engine << 7;
    command.group = 1;
    command.chip = static_cast<unsigned>(random.below(4));
    command.unit = 0x42;
    command.scope = 3;
    command.ticket = static_cast<unsigned>(random.below(128));
    command.ttype = random.chance(700) ? 0x00 : 0x08;  // rd_go_s, rwitm
    command.tsize = command.ttype == 0 ? 0x40 : 0x00;
    command.delta = static_cast<unsigned>(random.below(16));
    uint64_t pair[2];
    power9_nest_command(pair, &command, nullptr);
    put(words, pair);
    const nest_response response = {1, command.group, command.chip, command.ticket, 0, 3, 0};
    const nest_response* const slots[4] = {&response, nullptr, nullptr, nullptr};
    power9_nest_responses(pair, slots, 1);
    put(words, pair);
  }
}

void put_begin(std::vector<uint64_t>& words) {
  uint64_t pair[kPower10CompanionWords];
  power10_companion(pair, 1000, 0, power10_record(0));
  put(words, pair);
  words.resize(words.size() + size_t{kLineRecords - 1} * 2);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: make_nest_trace SIZE_BYTES TRACE\n", stderr);
    return 2;
  }
  const uint64_t size_bytes = std::strtoull(argv[1], nullptr, 10);
  std::FILE* file = std::fopen(argv[2], "wb");
  Random random(1);
  std::vector<uint64_t> words;
  for (int engine = 0; engine < 2; engine++) put_begin(words);
  uint64_t written = 0;
  while (file != nullptr && written < size_bytes) {
    while (words.size() < 16384) {
      for (unsigned engine = 0; engine < 2; engine++) put_line(words, random, engine);
    }
    const std::vector<std::byte> bytes = bytes_of(words);
    if (std::fwrite(bytes.data(), bytes.size(), 1, file) != 1) break;
    written += bytes.size();
    words.clear();
  }
  if (file != nullptr && std::fclose(file) == 0 && written >= size_bytes) return 0;
  std::perror(argv[2]);
  return 1;
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/generator/nest_trace.h"

#include "tests/encoder/nest.h"
#include "tests/encoder/power10.h"

namespace htmtrace::generator {
namespace {

void put(std::vector<uint64_t>& words, const uint64_t pair[2]) {
  words.insert(words.end(), pair, pair + 2);
}

nest_response random_response(Random& random, const nest_command& command) {
  nest_response response{};
  response.code = static_cast<unsigned>(random.below(32));
  response.group = command.group;
  response.chip = command.chip;
  response.ticket = command.ticket;
  response.scope = command.scope;
  response.snoop_port = static_cast<unsigned>(random.below(2));
  return response;
}

}  // namespace

std::vector<uint64_t> nest_words(Random& random, nest::Layout layout, unsigned records) {
  std::vector<uint64_t> words;
  nest_command command{};
  const bool power8 = layout == nest::Layout::kPower8;
  for (unsigned i = 0; i < records; i++) {
    uint64_t pair[2];
    const nest_response response = random_response(random, command);
    if (random.chance(20)) {
      power10_companion(
          pair, random.next(), 0,
          random.chance(500) ? power10_sync() : power10_time(kPower10TimeResponseDropped, 3, 77));
      if (power8) pair[0] = 0;
    } else if (random.chance(20)) {
      pair[0] = random.next() >> random.below(64);  // anything
      pair[1] = random.next() >> random.below(64);
    } else if (random.chance(300)) {
      const nest_response* slots[4] = {};
      for (const nest_response*& slot : slots) slot = random.chance(400) ? &response : nullptr;
      (power8 ? power8_nest_responses : power9_nest_responses)(pair, slots, i % 16);
    } else {
      const uint64_t logical = random.below(uint64_t{kOwnBlocks + 10} << 28);
      command.address = real_of_logical(logical) & ~uint64_t{0x7f};
      command.ttype = static_cast<unsigned>(random.below(random.chance(700) ? 3 : 64));
      command.tsize = static_cast<unsigned>(random.below(128));
      command.ticket = static_cast<unsigned>(random.below(random.chance(900) ? 2 : 64));
      command.chip = static_cast<unsigned>(random.below(4));
      command.scope = 3;
      (power8 ? power8_nest_command : power9_nest_command)(
          pair, &command, random.chance(200) ? &response : nullptr);
    }
    put(words, pair);
  }
  return words;
}

}  // namespace htmtrace::generator

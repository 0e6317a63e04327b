// SPDX-License-Identifier: GPL-2.0-or-later
// Compares the lists of open commands with a model that keeps every command.
#include "core/nest_trace/open_commands.h"

#include <doctest/doctest.h>

#include <deque>
#include <map>

#include "tests/generator/generated_trace.h"
#include "tests/unit/rounds.h"

namespace htmtrace::nest {
namespace {

using generator::Random;

class Model {
 public:
  void add(uint32_t key, uint64_t number) { commands_[key].push_back(number); }

  OpenCommands::Found take(uint32_t key, uint64_t next) {
    std::deque<uint64_t>& open = commands_[key];
    while (!open.empty() && next - open.front() > OpenCommands::kReach) open.pop_front();
    if (open.empty()) return {};
    const OpenCommands::Found found{.number = open.front(), .several = open.size() > 1};
    open.pop_front();
    return found;
  }

 private:
  std::map<uint32_t, std::deque<uint64_t>> commands_;
};

// Responses are rare in some rounds, so that lists grow beyond all limits.
void compare_round(Random& random) {
  OpenCommands commands(Layout::kPower9);
  Model model;
  const uint64_t keys = 1 + random.below(20);
  const uint64_t most_skipped = 1 + random.below(random.chance(500) ? 3 : 300);
  const unsigned responses = random.chance(500) ? 2 : 450;  // in 1000
  uint64_t next = OpenCommands::kFirst;
  for (unsigned i = 0; i < 20000; i++) {
    // An odd multiplier spreads the keys over all bits.
    const auto key =
        static_cast<uint32_t>(random.below(keys) * 26347 % (1U << OpenCommands::kKeyBits));
    if (random.chance(responses)) {
      const OpenCommands::Found found = commands.take(key, next);
      const OpenCommands::Found expected = model.take(key, next);
      REQUIRE(found.number == expected.number);
      REQUIRE(found.several == expected.several);
    } else {
      commands.add(key, next);
      model.add(key, next);
    }
    next += random.below(most_skipped + 1) + 1;
  }
}

TEST_CASE("open commands: a response gets the oldest open command of its key") {
  for (unsigned round = 0; round < rounds(20); round++) {
    CAPTURE(round);
    Random random(round + 1);
    compare_round(random);
  }
}

TEST_CASE("open commands: an unknown layout has no keys") {
  CHECK(OpenCommands(Layout::kUnknown).empty());
  CHECK_FALSE(OpenCommands(Layout::kPower8).empty());
}

}  // namespace
}  // namespace htmtrace::nest

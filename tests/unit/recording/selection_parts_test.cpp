// SPDX-License-Identifier: GPL-2.0-or-later
// Compares the selectors of parts with one selector of the whole trace.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/selection/selection.h"
#include "tests/generator/generated_trace.h"
#include "tests/unit/rounds.h"

namespace htmtrace {
namespace {

using generator::Random;

struct Event {
  std::optional<Stamp> stamp;  // otherwise an instruction
  uint64_t ea = 0;
};

std::vector<Event> random_events(Random& random) {
  std::vector<Event> events(random.below(200));
  for (Event& event : events) {
    event.ea = random.below(4);
    if (!random.chance(300)) continue;
    event.stamp.emplace();
    event.stamp->elapsed = static_cast<uint32_t>(random.below(3));
    if (!random.chance(300)) continue;
    event.stamp->kind = StampKind::kMark;
    event.stamp->mark.value = static_cast<uint16_t>(random.below(6));
  }
  return events;
}

AddressRange random_range(Random& random, uint64_t most) {
  const uint64_t first = random.below(3) * random.below(most) / 2;
  return {first, random.chance(300) ? Selection::kAny : first + random.below(most)};
}

Selection random_selection(Random& random) {
  Selection selection;
  if (random.chance(500)) selection.numbers = random_range(random, 100);
  if (random.chance(300)) selection.ticks = random_range(random, 50);
  if (random.chance(200)) selection.from_mark = static_cast<unsigned>(random.below(6));
  if (random.chance(200)) selection.to_mark = static_cast<unsigned>(random.below(6));
  if (random.chance(200)) selection.first = random.below(60);
  if (random.chance(300)) selection.ea = {{0, random.below(4)}};
  return selection;
}

// Appends for each event whether it is selected. Stops when the selector is satisfied.
void select(Selector& selector, std::span<const Event> events, std::vector<bool>& selected) {
  for (const Event& event : events) {
    if (selector.satisfied()) return;
    if (event.stamp) {
      selected.push_back(selector.take(*event.stamp));
    } else if (selector.takes_everything()) {
      selector.take_next();
      selected.push_back(true);
    } else {
      Instruction instruction;
      instruction.has_ea = true;
      instruction.ea = {event.ea};
      selected.push_back(selector.take(instruction));
    }
  }
}

}  // namespace

TEST_CASE("selectors of parts select as one selector, or state that they cannot follow") {
  size_t open = 0, closed = 0, refused = 0;
  for (uint64_t seed = 0; seed < rounds(5000); seed++) {
    Random random(seed);
    const std::vector<Event> events = random_events(random);
    const Selection selection = random_selection(random);
    REQUIRE(selection.has_parts());

    // As with an index: nothing before this position may be selected.
    const TracePlace begin = {random.below(2) * random.below(selection.numbers.first + 1),
                              random.below(2) * random.below(selection.ticks.first + 1)};
    std::vector<bool> expected;
    Selector whole(selection);
    whole.begin_at(begin);
    select(whole, events, expected);

    std::vector<bool> selected;
    std::optional<Selector> so_far(selection);
    so_far->begin_at(begin);
    std::span<const Event> left(events);
    while (!left.empty() && !so_far->satisfied()) {
      const auto events_of_part = left.first(std::min<size_t>(left.size(), random.below(40)));
      left = left.subspan(events_of_part.size());
      Selector part(selection);
      part.begin_at(begin);
      const bool assumed = random.chance(100) ? random.chance(500) : so_far->is_open();
      part.start_inside(assumed);
      std::vector<bool> of_part;
      select(part, events_of_part, of_part);
      if (!part.can_follow(*so_far)) {
        refused++;
        select(*so_far, events_of_part, selected);
        continue;
      }
      (assumed ? open : closed)++;
      part.follow(*so_far);
      selected.insert(selected.end(), of_part.begin(), of_part.end());
      so_far.emplace(part);
    }
    INFO("seed ", seed);
    REQUIRE(selected == expected);
    REQUIRE(so_far->place() == whole.place());
    REQUIRE(so_far->taken() == whole.taken());
    REQUIRE(so_far->satisfied() == whole.satisfied());
  }
  CHECK(open > rounds(2000));
  CHECK(closed > rounds(2000));
  CHECK(refused > rounds(500));
}

}  // namespace htmtrace

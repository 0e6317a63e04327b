// SPDX-License-Identifier: GPL-2.0-or-later
// Limits of memory and work that grow with the input.
#include "core/base/budget.h"

#include <doctest/doctest.h>

#include "core/base/error.h"

namespace htmtrace {

TEST_CASE("the memory of a reader grows with its inputs, and an Error states the limit") {
  constexpr uint64_t kInputBytes = 1000;
  MemoryBudget budget(kInputBytes);
  budget.add_input(kInputBytes);
  budget.take(MemoryBudget::kBaseBytes);
  budget.take(2 * kInputBytes * MemoryBudget::kBytesPerByte);
  CHECK_FALSE(budget.exceeded());
  CHECK_THROWS_AS(budget.take(1), Error);
  CHECK(budget.exceeded());
  try {
    budget.take(1);
  } catch (const Error& error) {
    REQUIRE(error.subjects().size() == 1);
    CHECK(error.subjects()[0] == "limit: 96 MiB, and 3 bytes for each byte of the file");
    CHECK(error.hints().size() == 1);
  }
}

TEST_CASE("an input of any size has a budget") {
  MemoryBudget budget(~uint64_t{0});
  budget.add_input(~uint64_t{0});
  budget.take(~uint64_t{0});
  CHECK_THROWS_AS(budget.take(1), Error);
}

TEST_CASE("work beyond the budget is refused, and further input allows more") {
  WorkBudget budget;
  CHECK(budget.spend(WorkBudget::kBaseBytes));
  CHECK_FALSE(budget.spend(1));
  budget.add_input(2);
  CHECK(budget.spend(2 * WorkBudget::kBytesPerByte));
  CHECK_FALSE(budget.spend(1));
}

}  // namespace htmtrace

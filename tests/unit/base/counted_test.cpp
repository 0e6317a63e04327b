// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers with their nouns in messages and reports.
#include "core/base/counted.h"

#include <doctest/doctest.h>

namespace htmtrace {

TEST_CASE("a number has its noun in the singular or plural") {
  CHECK(counted(0, "instruction") == "0 instructions");
  CHECK(counted(1, "instruction") == "1 instruction");
  CHECK(counted(2, "instruction") == "2 instructions");
  CHECK(counted(1, "loss") == "1 loss");
  CHECK(counted(2, "loss") == "2 losses");
  CHECK(counted(1, "memory map entry") == "1 memory map entry");
  CHECK(counted(2, "memory map entry") == "2 memory map entries");
  CHECK(counted(3, "dispatch") == "3 dispatches");
  CHECK(plural("byte") == "bytes");
}

}  // namespace htmtrace

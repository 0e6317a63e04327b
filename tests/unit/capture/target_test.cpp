// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/base/target.h"

#include <doctest/doctest.h>

namespace htmtrace {

TEST_CASE("a target has the name of the command line and of file names") {
  const TraceTarget target{.node = 0, .chip = 1, .core = 12, .type = HtmType::kCore};
  CHECK(describe(target) == "node=0,chip=1,core=12,type=core");
  CHECK(file_suffix(target) == "n0.p1.c12");
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/trace_target.h"

#include <doctest/doctest.h>

namespace htmtrace {

TEST_CASE("a target is named as on the command line and in file names") {
  const TraceTarget target{.node = 0, .chip = 1, .core = 12, .type = HtmType::kCore};
  CHECK(describe(target) == "node=0,chip=1,core=12,type=core");
  CHECK(file_suffix(target) == "n0.p1.c12");
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/base/target.h"

#include <doctest/doctest.h>

namespace htmtrace {

TEST_CASE("a target is described as on the command line") {
  const TraceTarget target{.node = 0, .chip = 1, .core = 12, .type = HtmType::kCore};
  CHECK(describe(target) == "node=0,chip=1,core=12,type=core");
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/base/target.h"

#include <fmt/core.h>

namespace htmtrace {

const char* htm_type_name(HtmType type) {
  switch (type) {
    case HtmType::kNest:
      return "nest";
    case HtmType::kCore:
      return "core";
    case HtmType::kLlat:
      return "llat";
  }
  return "unknown";
}

std::string describe(const TraceTarget& target) {
  return fmt::format("node={},chip={},core={},type={}", target.node, target.chip, target.core,
                     htm_type_name(target.type));
}

}  // namespace htmtrace

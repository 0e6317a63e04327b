// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/base/counted.h"

namespace htmtrace {

std::string plural(std::string_view noun) {
  if (noun.ends_with("ry")) return std::string(noun.substr(0, noun.size() - 1)) + "ies";
  return std::string(noun) + (noun.ends_with('s') || noun.ends_with("ch") ? "es" : "s");
}

std::string counted(uint64_t number, std::string_view noun) {
  return std::to_string(number) + ' ' + (number == 1 ? std::string(noun) : plural(noun));
}

}  // namespace htmtrace

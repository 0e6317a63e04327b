// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers with their nouns, for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace htmtrace {

// Returns the plural of `noun`: "instructions", "entries", "losses".
std::string plural(std::string_view noun);

// Returns "1 loss", "0 entries", "2 basic blocks". `noun` is singular.
std::string counted(uint64_t number, std::string_view noun);

}  // namespace htmtrace

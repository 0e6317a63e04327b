// SPDX-License-Identifier: GPL-2.0-or-later
// What can happen to the bytes of a trace.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tests/generator/generated_trace.h"

namespace htmtrace {

using Bytes = std::vector<std::byte>;
using Damage = void (*)(Bytes&, generator::Random&);

void put_random_word(Bytes& trace, size_t at, generator::Random& random);

// Damages a trace of some pages: damage number `kind` of those to any trace and `special` ones, and
// sometimes another one upon it.
void damage(Bytes& trace, std::span<const Damage> special, size_t kind, generator::Random& random);

}  // namespace htmtrace

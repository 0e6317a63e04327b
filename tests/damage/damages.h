// SPDX-License-Identifier: GPL-2.0-or-later
// Ways to damage the bytes of a trace.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tests/generator/generated_trace.h"

namespace htmtrace {

using Bytes = std::vector<std::byte>;
using Damage = void (*)(Bytes&, generator::Random&);

void put_random_word(Bytes& trace, size_t at, generator::Random& random);

// Damages a trace of a few pages. `kind` numbers the general damages and the `special` damages.
// Sometimes adds a second damage.
void damage(Bytes& trace, std::span<const Damage> special, size_t kind, generator::Random& random);

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
// The three kinds of address a trace speaks of. They are distinct types so that none can be passed
// for another; `value` is the plain 64-bit number.
#pragma once

#include <compare>
#include <cstdint>

namespace htmtrace {

// What the instruction computed, before any translation.
struct EffectiveAddr {
  uint64_t value = 0;
  auto operator<=>(const EffectiveAddr&) const = default;
};

// With relocation off the two top bits of an effective address are no part of the real one.
inline constexpr uint64_t kRealModeMask = 0x3fffffffffffffff;

// Machine real address: what the processor puts on the bus. Only the hypervisor gives it meaning.
struct RealAddr {
  uint64_t value = 0;
  auto operator<=>(const RealAddr&) const = default;
};

// Logical real address: what a partition believes to be its real memory (a Linux physical address).
struct LogicalAddr {
  uint64_t value = 0;
  auto operator<=>(const LogicalAddr&) const = default;
};

}  // namespace htmtrace

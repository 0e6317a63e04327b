// SPDX-License-Identifier: GPL-2.0-or-later
// The three kinds of address in a trace. Distinct types keep the compiler from mixing them; `value`
// is the plain 64-bit number.
#pragma once

#include <compare>
#include <cstdint>

namespace htmtrace {

// The address that the instruction computed, before translation.
struct EffectiveAddr {
  uint64_t value = 0;
  auto operator<=>(const EffectiveAddr&) const = default;
};

// With relocation off, the two top bits of an effective address do not belong to the real address.
inline constexpr uint64_t kRealModeMask = 0x3fffffffffffffff;

// Machine real address: the address that the processor puts on the bus. Only the hypervisor knows
// its meaning.
struct RealAddr {
  uint64_t value = 0;
  auto operator<=>(const RealAddr&) const = default;
};

// Logical real address: the address that a partition treats as real (a Linux physical address).
struct LogicalAddr {
  uint64_t value = 0;
  auto operator<=>(const LogicalAddr&) const = default;
};

}  // namespace htmtrace

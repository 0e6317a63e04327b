// SPDX-License-Identifier: GPL-2.0-or-later
// Adds up structs of counts, so that no list of the members is needed.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace htmtrace {

// Adds each member of `more` to the same member of `sum`. All members must be uint64_t or arrays of
// it.
template <class Counts>
void add_counts(Counts& sum, const Counts& more) {
  static_assert(std::has_unique_object_representations_v<Counts> &&
                alignof(Counts) == alignof(uint64_t));
  using Numbers = std::array<uint64_t, sizeof(Counts) / sizeof(uint64_t)>;
  auto numbers = std::bit_cast<Numbers>(sum);
  const auto added = std::bit_cast<Numbers>(more);
  for (size_t i = 0; i < numbers.size(); i++) numbers[i] += added[i];
  sum = std::bit_cast<Counts>(numbers);
}

}  // namespace htmtrace

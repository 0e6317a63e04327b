// SPDX-License-Identifier: GPL-2.0-or-later
// Derives the distance between two physical processors from the hypervisor's processor numbers.
#pragma once

#include <cstdint>

namespace htmtrace {

// The lowest bits of a processor number that identify its chip and its node.
struct ProcessorBits {
  unsigned chip = 0;
  unsigned node = 0;

  bool same_chip(uint64_t from, uint64_t to) const { return from >> chip == to >> chip; }
  bool same_node(uint64_t from, uint64_t to) const { return from >> node == to >> node; }
};

}  // namespace htmtrace

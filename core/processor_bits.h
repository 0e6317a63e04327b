// SPDX-License-Identifier: GPL-2.0-or-later
// How far it is from one physical processor to another, by the hypervisor's numbers of them.
#pragma once

#include <cstdint>

namespace htmtrace {

// The lowest bits of a processor's number that name the chip and the node that it is on.
struct ProcessorBits {
  unsigned chip = 0;
  unsigned node = 0;

  bool same_chip(uint64_t from, uint64_t to) const { return from >> chip == to >> chip; }
  bool same_node(uint64_t from, uint64_t to) const { return from >> node == to >> node; }
};

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/coverage/edge_part.h"

#include <utility>

namespace htmtrace {

void EdgePart::add(uint64_t to) {
  Count& edge = edges_.at({.from = last_.address, .to = to});
  if (edge.count++ == 0) edge.start = last_;
}

// Handles an instruction that needs an edge.
void EdgePart::arrive(uint64_t ea) {
  if (std::exchange(is_new_, false)) {
    first_ = ea;
  } else {
    add(ea);
  }
}

void EdgePart::skipped() {
  if (std::exchange(is_new_, false)) {
    begins_with_gap_ = true;
  } else if (last_.address != kUnknown) {
    add(kUnknown);
  }
  last_ = {.address = kUnknown};
  next_ = kUnknown;
}

void EdgePart::clear() {
  edges_.clear();
  last_ = {.address = kUnknown};
  next_ = kUnknown;
  first_.reset();
  without_address_ = 0;
  is_new_ = true;
  begins_with_gap_ = false;
}

}  // namespace htmtrace

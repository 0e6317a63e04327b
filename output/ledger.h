// SPDX-License-Identifier: GPL-2.0-or-later
// Everything that a recording lost, added up by place and cause.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/loss.h"
#include "output/moment.h"

namespace htmtrace {

class Ledger {
 public:
  struct Entry {
    std::string target;  // "n0.p1.c12", as in the names of its files; empty: of the whole recording
    Loss loss;           // the amount is the sum, the position that of the first
    uint64_t occurrences = 0;
    Moment first;  // when it was noticed
    Moment last;
  };

  void add(const Loss& loss, const Moment& when = now());

  // Adds what another ledger holds, as losses of `target`.
  void add_all(const std::string& target, const Ledger& other);

  bool empty() const { return entries_.empty(); }
  // In the order in which they first happened.
  const std::vector<Entry>& entries() const { return entries_; }

  // "nothing lost", or "lost: 4096 bytes (AUX ring: ...), ..."
  std::string summary() const;

 private:
  std::vector<Entry> entries_;
};

// "4096 bytes", "3 records", "unknown amount".
std::string describe_amount(const Loss& loss);

}  // namespace htmtrace

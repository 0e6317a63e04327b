// SPDX-License-Identifier: GPL-2.0-or-later
// Sums all losses of a recording by target and cause.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/loss.h"
#include "output/io/moment.h"

namespace htmtrace {

class Ledger {
 public:
  struct Entry {
    std::string target;  // "n0.p1.c12", as in its file names; empty: the whole recording
    Loss loss;           // the amount is the sum, the position is that of the first loss
    uint64_t occurrences = 0;
    Moment first;  // when the recorder noticed the loss
    Moment last;
  };

  void add(const Loss& loss, const Moment& when = now());

  // Adds all losses of another ledger as losses of `target`.
  void add_all(const std::string& target, const Ledger& other);

  bool empty() const { return entries_.empty(); }
  // In the order of the first occurrence.
  const std::vector<Entry>& entries() const { return entries_; }

  // "nothing lost", or "lost: 4096 bytes (AUX ring: ...), ..."
  std::string summary() const;

 private:
  std::vector<Entry> entries_;
};

// "4096 bytes", "3 records", "unknown amount".
std::string describe_amount(const Loss& loss);

}  // namespace htmtrace

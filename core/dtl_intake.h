// SPDX-License-Identifier: GPL-2.0-or-later
// What is done with every entry of a virtual processor as soon as it is out of its ring.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/dtl_analysis.h"
#include "core/dtl_entry.h"
#include "core/dtl_proof.h"

namespace htmtrace {

class DtlIntake {
 public:
  // Of whole entries as the hypervisor writes them, those that are of this recording, in place of
  // what was in `to`.
  void take(std::span<const std::byte> entries, std::vector<DtlEntry>& to) {
    to.resize(entries.size() / kDtlEntryBytes);
    size_t taken = 0;
    for (; taken < to.size(); taken++) {
      const std::byte* from = entries.data() + taken * kDtlEntryBytes;
      if (dtl_timebase(from) > end_) break;
      // Put together in its place: a copy would read, in wider words, what was just written.
      const DtlEntry& entry = to[taken] = load_dtl_entry(from);
      reasons_.dispatch[entry.dispatch_reason]++;
      reasons_.preempt[entry.preempt_reason]++;
    }
    to.resize(taken);
    proof_.take(to);
  }

  // Entries that are later than this timebase are not of this recording.
  void set_end(uint64_t timebase) { end_ = timebase; }

  const DtlReasons& reasons() const { return reasons_; }
  DtlProof& proof() { return proof_; }
  const DtlProof& proof() const { return proof_; }

 private:
  DtlReasons reasons_;
  DtlProof proof_;
  uint64_t end_ = UINT64_MAX;
};

}  // namespace htmtrace

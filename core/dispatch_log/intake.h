// SPDX-License-Identifier: GPL-2.0-or-later
// Processes each entry of a virtual processor directly after its removal from the ring.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/dispatch_log/analysis.h"
#include "core/dispatch_log/entry.h"
#include "core/dispatch_log/proof.h"

namespace htmtrace {

class DtlIntake {
 public:
  // Replaces the contents of `to` with the entries of this recording. `entries` are whole entries
  // in the hypervisor's format.
  void take(std::span<const std::byte> entries, std::vector<DtlEntry>& to) {
    to.resize(entries.size() / kDtlEntryBytes);
    size_t taken = 0;
    for (; taken < to.size(); taken++) {
      const std::byte* from = entries.data() + taken * kDtlEntryBytes;
      if (dtl_timebase(from) > end_) break;
      // Builds the entry in its final location. A copy would stall: it would read in wider words
      // the bytes that were just written.
      const DtlEntry& entry = to[taken] = load_dtl_entry(from);
      reasons_.dispatch[entry.dispatch_reason]++;
      reasons_.preempt[entry.preempt_reason]++;
    }
    to.resize(taken);
    proof_.take(to);
  }

  // Entries after this timebase do not belong to the recording.
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

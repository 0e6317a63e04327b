// SPDX-License-Identifier: GPL-2.0-or-later
// Collects the parts of a core trace that cannot be decoded, and reports each part at its end.
// Tracks whether the decoder is at the start of a record. htm-core-trace(5), DAMAGE.
#pragma once

#include <cstdint>
#include <optional>

#include "core/core_trace/events.h"
#include "core/core_trace/sink.h"
#include "core/core_trace/statistics.h"
#include "core/core_trace/words.h"

namespace htmtrace {

template <CoreSink Sink>
class DamageTracker {
 public:
  // Both arguments must outlive the tracker.
  DamageTracker(CoreStatistics& statistics, Sink& sink) : statistics_(statistics), sink_(sink) {}

  // The previous record was whole and ended at the current position. False at the start of a trace:
  // a wrapped trace starts in the middle of a record.
  bool in_sync() const { return in_sync_; }

  // The current record is valid, so its start is a record boundary.
  [[gnu::always_inline]] void come_in_sync() {
    if (in_sync_) [[likely]]
      return;
    close();
    in_sync_ = true;
    lost_words_ = 0;
  }

  void leave_out(uint64_t offset, uint64_t size_bytes, DefectReason reason) {
    if (open_ && open_->offset + open_->size_bytes == offset) {
      open_->size_bytes += size_bytes;
    } else {
      close();
      open_ = Defect{offset, size_bytes, reason};
    }
    statistics_.defective_bytes += size_bytes;
    in_sync_ = false;
    lost_words_++;
  }

  // The number of consecutive defective words is large enough to hide an IEARA.
  bool may_hide_line() const { return lost_words_ >= words::kIearaWords; }

  // Reports the open defect, if any.
  void close() {
    if (!open_) return;
    report(*open_);
    open_.reset();
  }

  void report(const Defect& defect) {
    statistics_.add(defect);
    sink_.defect(defect);
  }

  // The tracker reports only the first of consecutive instructions without an address.
  bool address_missing() const { return address_missing_; }
  void forget_missing_address() { address_missing_ = false; }
  // Handles an instruction without an address or an opcode. Takes values, not references: the
  // caller's state must stay in registers (core/core_trace/plain_records.h).
  void take_unknown(uint64_t offset, bool has_ea, bool has_opcode) {
    if (!has_ea) {
      statistics_.unknown_addresses++;
      if (!address_missing_) report({offset, 0, DefectReason::kUnknownAddress});
      address_missing_ = true;
    }
    if (has_opcode) return;
    statistics_.unrestored_branches++;
    if (has_ea) report({offset, 0, DefectReason::kUnknownBranch});
  }

 private:
  CoreStatistics& statistics_;
  Sink& sink_;
  bool in_sync_ = false;
  bool address_missing_ = false;
  unsigned lost_words_ = 0;  // since the last valid record
  std::optional<Defect> open_;
};

}  // namespace htmtrace

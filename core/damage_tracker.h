// SPDX-License-Identifier: GPL-2.0-or-later
// What of a core trace cannot be decoded, as stretches that are told when they end, and whether the
// decoder stands where a record begins. htm-core-trace(5), DAMAGE.
#pragma once

#include <cstdint>
#include <optional>

#include "core/core_events.h"
#include "core/core_statistics.h"
#include "core/core_words.h"

namespace htmtrace {

// `Sink` is that of a CoreDecoder.
template <class Sink>
class DamageTracker {
 public:
  // Both must outlive it.
  DamageTracker(CoreStatistics& statistics, Sink& sink) : statistics_(statistics), sink_(sink) {}

  // The record before was whole and ended right here. Not so at the begin of a trace: one that
  // wrapped starts in the middle of a record.
  bool in_sync() const { return in_sync_; }

  // A record is good: so is the place where it started.
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

  // So many words in a row cannot be decoded that they may have been an IEARA.
  bool may_hide_line() const { return lost_words_ >= words::kIearaWords; }

  // The stretch has ended, if there is one.
  void close() {
    if (!open_) return;
    report(*open_);
    open_.reset();
  }

  void report(const Defect& defect) {
    statistics_.add(defect);
    sink_.defect(defect);
  }

  // Of instructions in a row without an address only the first is told.
  bool address_missing() const { return address_missing_; }
  void forget_missing_address() { address_missing_ = false; }
  // The instruction has no address, or no opcode. By values: what it is called with must not be in
  // memory (core/plain_records.h).
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
  unsigned lost_words_ = 0;  // since the last good record
  std::optional<Defect> open_;
};

}  // namespace htmtrace

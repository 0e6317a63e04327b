// SPDX-License-Identifier: GPL-2.0-or-later
// Mainline's vpa_dtl driver, modeled step by step in plain memory.
#pragma once

#include <doctest/doctest.h>
#include <linux/perf_event.h>

#include <cstdint>
#include <string>

#include "tests/unit/dtl_bytes.h"
#include "tests/unit/plain_ring.h"

namespace htmtrace {

// Models vpa_dtl_dump_sample_data of Linux 7.3, for a log of 85 entries.
class VpaDriver {
 public:
  static constexpr uint64_t kBoot = 1000;
  static constexpr uint64_t kTicks = 512000000;

  explicit VpaDriver(size_t aux_bytes) : ring_(1 << 18, aux_bytes), size_(aux_bytes) {}

  PlainRing& ring() { return ring_; }
  uint64_t written() const { return written_; }
  bool off() const { return off_; }

  // The hypervisor writes `count` entries, then the driver's timer fires.
  void poll(uint64_t count) {
    written_ += count;
    uint64_t last = last_;
    if (last + 85 <= written_) last = written_ - 84;
    uint64_t wanted = written_ - last;
    if (wanted == 0) return;
    last_ = written_;
    // perf_aux_output_begin: a reader that lags this far ends the event, without a record.
    if (ring_.page().aux_head - ring_.page().aux_tail >= size_) off_ = true;
    if (off_) return;
    uint64_t done = 0;
    if (!header_) {
      header_ = true;
      store(0, native_words({kBoot, kTicks, 0, ~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}}));
      slot_ = 1;
      done = 1;
    }
    const uint64_t before_end = 85 - last % 85;
    if (wanted > before_end) {
      const uint64_t copied = copy(last, before_end);
      done += copied;
      if (full_) return commit(done);
      last += before_end;
      wanted -= before_end;
    }
    commit(done + copy(last, wanted));
  }

 private:
  uint64_t copy(uint64_t first, uint64_t count) {
    const uint64_t slots = (size_ - 32) / 48;
    if (slot_ + count >= slots) {
      count = slots - slot_;
      full_ = true;
    }
    for (uint64_t i = 0; i < count; i++) {
      store(slot_ + i, dtl_entry({.dispatch_reason = 7,
                                  .preempt_reason = 4,
                                  .processor_id = 3,
                                  .timebase = kBoot + 1 + first + i}));
    }
    slot_ = full_ ? 0 : slot_ + count;
    return count;
  }

  void commit(uint64_t entries) {
    full_ = false;
    uint64_t bytes = entries * 48;
    if (bytes + committed_ > size_) {
      bytes = size_ - committed_;
      slot_ = committed_ = 0;
    } else {
      committed_ += bytes;
    }
    CHECK(ring_.put_record(PERF_RECORD_AUX,
                           native_words({ring_.page().aux_head, bytes, 0}) + sample_id()));
    ring_.page().aux_head += bytes;
  }

  // Thread, time, CPU, identifier. The time is the number of the newest entry.
  std::string sample_id() const { return native_words({0, written_, 0, 0}); }

  // The memory that user space has mapped changes immediately, independent of the head.
  void store(uint64_t slot, const std::string& bytes) {
    const uint64_t head = ring_.page().aux_head;
    ring_.page().aux_head = slot * 48;
    ring_.put_aux(bytes);
    ring_.page().aux_head = head;
  }

  PlainRing ring_;
  size_t size_;
  uint64_t written_ = 0, last_ = 0, slot_ = 0, committed_ = 0;
  bool header_ = false, full_ = false, off_ = false;
};

}  // namespace htmtrace

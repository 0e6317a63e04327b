// SPDX-License-Identifier: GPL-2.0-or-later
// The reader's side of perf's two rings, over plain memory.
//
// Heads and tails are running byte counts. The position in the ring is the count modulo the ring's
// size, which is a power of two. The kernel owns the heads, the reader owns the tails. The reader
// loads the head with acquire ordering, which makes the bytes up to the head visible. The reader
// stores the tail with release ordering, which keeps every read of the ring before the store. POWER
// does reorder these accesses.
//
// include/uapi/linux/perf_event.h, struct perf_event_mmap_page, requires a full barrier before the
// store of the tail. The kernel's tools/include/linux/ring_buffer.h explains why release ordering
// is sufficient.
#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace htmtrace {

// One record of the data ring. `body` excludes the 8-byte header and is valid only until the
// visitor returns.
struct Record {
  uint32_t type = 0;
  uint16_t misc = 0;
  std::span<const std::byte> body;
};

class DataRing {
 public:
  // `page` and `ring` must outlive this object. The ring's size is a power of two.
  DataRing(perf_event_mmap_page* page, std::span<const std::byte> ring)
      : page_(page), ring_(ring) {}

  // Visits every available record, then releases the space. Returns the number of bytes skipped
  // after an invalid record size (0 unless the ring is corrupt).
  uint64_t drain(const std::function<void(const Record&)>& visit);

  // Prefetch steps for a ring that is drained soon: first its heads and tails, then the first
  // records. The caller works on other rings between the steps.
  void prefetch_counters() const;
  void prefetch() const;

 private:
  // `size` bytes at the running position `at`: in place, or in a copy if they wrap.
  std::span<const std::byte> bytes(uint64_t at, size_t size);

  perf_event_mmap_page* page_;
  std::span<const std::byte> ring_;
  std::vector<std::byte> wrapped_;
};

// The available AUX bytes: one span, or two spans if they wrap at the ring's end.
struct AuxBytes {
  std::span<const std::byte> first;
  std::span<const std::byte> second;
  uint64_t overrun = 0;  // bytes that the driver overwrote before the reader read them

  size_t size() const { return first.size() + second.size(); }
};

class AuxRing {
 public:
  AuxRing(perf_event_mmap_page* page, std::span<const std::byte> ring) : page_(page), ring_(ring) {}

  size_t size_bytes() const { return ring_.size(); }

  // All bytes between tail and head. After an overrun, the contents of the ring are invalid: the
  // result has no bytes, and `overrun` holds their number.
  AuxBytes peek() const;

  // Bytes that the driver cannot have touched, for a driver that overruns the reader slightly and
  // then stops. The driver may write up to `ahead` bytes beyond the published head. The result
  // excludes the oldest bytes within that reach and counts them as overrun.
  AuxBytes peek_untouched(uint64_t ahead) const;

  // Releases the space of `taken`, whose spans become invalid.
  void release(const AuxBytes& taken);

 private:
  AuxBytes bytes(uint64_t from, uint64_t to) const;

  perf_event_mmap_page* page_;
  std::span<const std::byte> ring_;
};

}  // namespace htmtrace

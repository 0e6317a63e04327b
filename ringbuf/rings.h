// SPDX-License-Identifier: GPL-2.0-or-later
// The reader's side of perf's two rings, over plain memory.
//
// Heads and tails are running byte counts; a place in the ring is the count modulo its size, which
// is a power of two. The kernel owns the heads, the reader the tails. The head is loaded with
// acquire so that what it covers is visible; the tail that gives the space back is stored with
// release, which keeps every read of the ring before it (include/uapi/linux/perf_event.h, struct
// perf_event_mmap_page, asks for a full barrier there; tools/include/linux/ring_buffer.h of the
// kernel tells why release is enough). POWER does reorder these.
#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace htmtrace {

// One record of the data ring. `body` is what follows the 8-byte header; it is valid only until the
// visitor returns.
struct Record {
  uint32_t type = 0;
  uint16_t misc = 0;
  std::span<const std::byte> body;
};

class DataRing {
 public:
  // `page` and `ring` outlive this object. The ring's size is a power of two.
  DataRing(perf_event_mmap_page* page, std::span<const std::byte> ring)
      : page_(page), ring_(ring) {}

  // Visits every record that is there, then gives the space back. Returns how many bytes had to be
  // skipped because a record's size made no sense (0 unless the ring is corrupt).
  uint64_t drain(const std::function<void(const Record&)>& visit);

  // For a ring that is drained soon: has the processor get its heads and tails, and when these are
  // there, the records, at least the first ones, while it does something else.
  void prefetch_counters() const;
  void prefetch() const;

 private:
  // `size` bytes at running position `at`: in place, or copied together when they wrap.
  std::span<const std::byte> bytes(uint64_t at, size_t size);

  perf_event_mmap_page* page_;
  std::span<const std::byte> ring_;
  std::vector<std::byte> wrapped_;
};

// The AUX bytes that can be read now: one span, or two when they go around the ring's end.
struct AuxBytes {
  std::span<const std::byte> first;
  std::span<const std::byte> second;
  uint64_t overrun = 0;  // bytes that the driver overwrote before they were read

  size_t size() const { return first.size() + second.size(); }
};

class AuxRing {
 public:
  AuxRing(perf_event_mmap_page* page, std::span<const std::byte> ring) : page_(page), ring_(ring) {}

  size_t size_bytes() const { return ring_.size(); }

  // Everything between tail and head. When the driver overran the reader, nothing of the ring can
  // be trusted: no bytes, and `overrun` tells how many there would have been.
  AuxBytes peek() const;

  // The same for a driver that overruns the reader by a little, and then stops: what it cannot have
  // touched. It may have overwritten, or be overwriting, `ahead` bytes beyond the head that it has
  // published; as much is left out at the front as this reaches into, and counted as overrun.
  AuxBytes peek_untouched(uint64_t ahead) const;

  // Gives back what `taken` held. Its spans are dead after this.
  void release(const AuxBytes& taken);

 private:
  AuxBytes bytes(uint64_t from, uint64_t to) const;

  perf_event_mmap_page* page_;
  std::span<const std::byte> ring_;
};

}  // namespace htmtrace

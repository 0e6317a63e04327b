// SPDX-License-Identifier: GPL-2.0-or-later
#include "ringbuf/rings.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace htmtrace {
namespace {

uint64_t load_head(__u64& head) {
  return std::atomic_ref(head).load(std::memory_order_acquire);
}

// Only the reader writes a tail.
uint64_t load_tail(__u64& tail) {
  return std::atomic_ref(tail).load(std::memory_order_relaxed);
}

void publish_tail(__u64& tail, uint64_t value) {
  // The reads of the ring must complete before the kernel sees the new tail. A full fence would
  // also wait for earlier stores.
  std::atomic_ref(tail).store(value, std::memory_order_release);
}

// The smallest cache line of all relevant processors.
constexpr size_t kLineBytes = 64;
// Bytes of records in a ring that is drained in time.
constexpr size_t kPrefetchedRecords = 512;

}  // namespace

void DataRing::prefetch_counters() const {
  // One cache line holds the heads and tails of both rings.
  __builtin_prefetch(&page_->data_head, 1);
}

void DataRing::prefetch() const {
  const uint64_t tail = load_tail(page_->data_tail);
  const uint64_t there = load_head(page_->data_head) - tail;
  const uint64_t length = std::min<uint64_t>(there, kPrefetchedRecords);
  for (uint64_t at = tail; at < tail + length; at += kLineBytes) {
    __builtin_prefetch(ring_.data() + (at & (ring_.size() - 1)));
  }
}

std::span<const std::byte> DataRing::bytes(uint64_t at, size_t size) {
  const size_t place = at & (ring_.size() - 1);
  if (place + size <= ring_.size()) return ring_.subspan(place, size);
  const size_t before_end = ring_.size() - place;
  wrapped_.resize(size);
  std::memcpy(wrapped_.data(), ring_.data() + place, before_end);
  std::memcpy(wrapped_.data() + before_end, ring_.data(), size - before_end);
  return wrapped_;
}

uint64_t DataRing::drain(const std::function<void(const Record&)>& visit) {
  const uint64_t head = load_head(page_->data_head);
  uint64_t tail = load_tail(page_->data_tail);
  uint64_t skipped = 0;
  if (head - tail > ring_.size()) {
    skipped = head - tail;
    tail = head;
  }
  if (tail == head && skipped == 0) return 0;
  while (tail != head) {
    const uint64_t left = head - tail;
    perf_event_header header{};
    if (left >= sizeof(header))
      std::memcpy(&header, bytes(tail, sizeof(header)).data(), sizeof(header));
    // The size of a record is a multiple of eight bytes. After an invalid size, the position of the
    // next record is unknown.
    if (header.size < sizeof(header) || header.size % 8 != 0 || header.size > left) {
      skipped = left;
      tail = head;
      break;
    }
    visit({header.type, header.misc, bytes(tail, header.size).subspan(sizeof(header))});
    tail += header.size;
  }
  publish_tail(page_->data_tail, tail);
  return skipped;
}

AuxBytes AuxRing::bytes(uint64_t from, uint64_t to) const {
  const size_t place = from & (ring_.size() - 1);
  const size_t before_end = std::min<size_t>(to - from, ring_.size() - place);
  AuxBytes bytes;
  bytes.first = ring_.subspan(place, before_end);
  bytes.second = ring_.first(to - from - before_end);
  return bytes;
}

AuxBytes AuxRing::peek() const {
  const uint64_t head = load_head(page_->aux_head);
  const uint64_t tail = load_tail(page_->aux_tail);
  AuxBytes found;
  if (head - tail <= ring_.size())
    found = bytes(tail, head);
  else
    found.overrun = head - tail;
  return found;
}

AuxBytes AuxRing::peek_untouched(uint64_t ahead) const {
  const uint64_t head = load_head(page_->aux_head);
  const uint64_t tail = load_tail(page_->aux_tail);
  const uint64_t reached = head - tail + ahead;
  const uint64_t overrun =
      reached <= ring_.size() ? 0 : std::min(reached - ring_.size(), head - tail);
  AuxBytes found = bytes(tail + overrun, head);
  found.overrun = overrun;
  return found;
}

void AuxRing::release(const AuxBytes& taken) {
  publish_tail(page_->aux_tail, load_tail(page_->aux_tail) + taken.size() + taken.overrun);
}

}  // namespace htmtrace

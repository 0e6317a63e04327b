// SPDX-License-Identifier: GPL-2.0-or-later
// perf's two rings in plain memory, with the kernel's side under control of the test.
#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "ringbuf/rings.h"

namespace htmtrace {

class PlainRing {
 public:
  PlainRing(size_t data_bytes, size_t aux_bytes) : data_(data_bytes), aux_(aux_bytes) {}

  DataRing data() { return {&page_, data_}; }
  AuxRing aux() { return {&page_, aux_}; }
  perf_event_mmap_page& page() { return page_; }
  size_t aux_room() const { return aux_.size() - (page_.aux_head - page_.aux_tail); }
  bool empty() const {
    return page_.aux_head == page_.aux_tail && page_.data_head == page_.data_tail;
  }

  // Sets both counters to a position near the end, so that the next bytes wrap.
  void start_at(uint64_t position) {
    page_.data_head = page_.data_tail = position;
    page_.aux_head = page_.aux_tail = position;
  }

  // Writes a record of the data ring. Returns false if the ring has no room, as in the kernel.
  bool put_record(uint32_t type, const std::string& body, uint16_t misc = 0) {
    perf_event_header header{};
    header.type = type;
    header.misc = misc;
    header.size = static_cast<uint16_t>(sizeof(header) + body.size());
    if (header.size >= data_.size() - (page_.data_head - page_.data_tail)) return false;
    put(data_, page_.data_head, std::string(reinterpret_cast<char*>(&header), sizeof(header)));
    put(data_, page_.data_head + sizeof(header), body);
    page_.data_head += header.size;
    return true;
  }

  // Overwrites the size in the header of the record at running position `at`.
  void corrupt_record_size(uint64_t at, uint16_t size) {
    const uint64_t place = at + offsetof(perf_event_header, size);
    put(data_, place, std::string(reinterpret_cast<char*>(&size), sizeof(size)));
  }

  // Writes bytes of the AUX ring.
  void put_aux(const std::string& bytes) {
    put(aux_, page_.aux_head, bytes);
    page_.aux_head += bytes.size();
  }

 private:
  static void put(std::vector<std::byte>& ring, uint64_t at, const std::string& bytes) {
    for (const char byte : bytes) ring[at++ & (ring.size() - 1)] = static_cast<std::byte>(byte);
  }

  perf_event_mmap_page page_{};
  std::vector<std::byte> data_;
  std::vector<std::byte> aux_;
};

// Returns consecutive native numbers, as a record's body.
inline std::string native_words(std::initializer_list<uint64_t> values) {
  std::string text;
  for (const uint64_t value : values) {
    text.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  return text;
}

inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace htmtrace

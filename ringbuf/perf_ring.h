// SPDX-License-Identifier: GPL-2.0-or-later
// The mapped rings of one event: control page, data ring and AUX area.
#pragma once

#include <cstddef>

#include "ringbuf/event_fd.h"
#include "ringbuf/mapping.h"
#include "ringbuf/rings.h"

namespace htmtrace {

// Sizes are powers of two and multiples of the page size.
struct RingSizes {
  size_t data_bytes = 0;
  size_t aux_bytes = 0;

  bool operator==(const RingSizes&) const = default;
};

class PerfRing {
 public:
  // Maps both rings of `event`. While the memory-lock limit refuses a size, tries half of it, down
  // to `least`; equal sizes mean "these or nothing". Throws Error.
  static PerfRing map(const EventFd& event, RingSizes wanted, RingSizes least);

  RingSizes sizes() const { return {data_.size(), aux_.memory().size()}; }
  DataRing data() const { return {page(), data_}; }
  AuxRing aux() const { return {page(), aux_.memory()}; }

 private:
  perf_event_mmap_page* page() const;

  // The AUX area goes first at the end: unmapping the control page frees both.
  Mapping control_;
  Mapping aux_;
  std::span<const std::byte> data_;
};

// The unit of every mapping.
size_t page_size();

}  // namespace htmtrace

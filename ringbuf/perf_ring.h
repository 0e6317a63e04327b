// SPDX-License-Identifier: GPL-2.0-or-later
// The mapped rings of one event: control page, data ring and AUX area.
#pragma once

#include <cstddef>
#include <optional>

#include "core/base/error.h"
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

// The reason why a ring could not be mapped.
struct MapFailure {
  const char* ring = "";  // "data" or "AUX"
  size_t size_bytes = 0;
  int reason = 0;  // an errno

  // True for the memory-lock limit and for insufficient memory, where smaller rings may succeed.
  bool less_may_do() const;
  Error explain() const;
};

class PerfRing {
 public:
  // Maps both rings of `event`, or only the data ring if the AUX area's size is 0. On failure,
  // returns nothing and fills `failure`.
  static std::optional<PerfRing> map(const EventFd& event, RingSizes sizes, MapFailure& failure);

  bool has_aux() const { return static_cast<bool>(aux_); }
  RingSizes sizes() const { return {data_.size(), aux_.memory().size()}; }
  DataRing data() const { return {page(), data_}; }
  AuxRing aux() const { return {page(), aux_.memory()}; }

 private:
  PerfRing() = default;
  perf_event_mmap_page* page() const;

  // Destruction must unmap the AUX area first: unmapping the control page frees both.
  Mapping control_;
  Mapping aux_;
  std::span<const std::byte> data_;
};

// The unit of every mapping.
size_t page_size();

}  // namespace htmtrace

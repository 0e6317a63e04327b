// SPDX-License-Identifier: GPL-2.0-or-later
#include "ringbuf/mapping.h"

#include <sys/mman.h>

#include <utility>

namespace htmtrace {

Mapping::Mapping(Mapping&& other) noexcept : memory_(std::exchange(other.memory_, {})) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(memory_, other.memory_);
  return *this;
}

Mapping::~Mapping() {
  if (!memory_.empty()) ::munmap(memory_.data(), memory_.size());
}

Mapping Mapping::map(int fd, size_t size_bytes, size_t offset) {
  // The mapping must be writable; otherwise perf overwrites unread data.
  void* start = ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                       static_cast<off_t>(offset));
  if (start == MAP_FAILED) return Mapping();
  return Mapping({static_cast<std::byte*>(start), size_bytes});
}

}  // namespace htmtrace

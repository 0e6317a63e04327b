// SPDX-License-Identifier: GPL-2.0-or-later
// A shared, writable mapping of a file descriptor with one owner.
#pragma once

#include <cstddef>
#include <span>

namespace htmtrace {

class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  // Maps `size_bytes` of `fd` at `offset`. On failure, the result is empty and errno is set: the
  // caller may try again with a smaller size.
  static Mapping map(int fd, size_t size_bytes, size_t offset);

  explicit operator bool() const { return !memory_.empty(); }
  std::span<std::byte> memory() const { return memory_; }

 private:
  explicit Mapping(std::span<std::byte> memory) : memory_(memory) {}

  std::span<std::byte> memory_;
};

}  // namespace htmtrace

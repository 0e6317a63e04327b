// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the start of a core trace in a dumped buffer that wrapped. The trace starts after the
// COMPLETE stamp at its newest end. htm-core-trace(5), FRAMING.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace htmtrace {

// Reads the whole dump in pieces. All pieces except the last consist of whole words.
class WrapFinder {
 public:
  void take(std::span<const std::byte> piece);

  // The words so far prove that the dump did not wrap.
  bool settled() const { return starts_with_record_; }

  // The offset of the oldest word. Empty if the dump is in order or has several candidates.
  std::optional<uint64_t> oldest() const;

 private:
  void take_word(uint64_t word);

  uint64_t offset_ = 0;              // offset of the next word
  bool starts_with_record_ = false;  // tracing began at the start of the buffer
  bool behind_complete_ = false;     // only filler and companions since the last COMPLETE
  uint64_t end_ = 0;                 // offset after the last COMPLETE
  uint64_t found_ = 0;
  unsigned places_ = 0;  // COMPLETE stamps that no new start follows
};

}  // namespace htmtrace

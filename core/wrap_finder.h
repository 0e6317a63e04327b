// SPDX-License-Identifier: GPL-2.0-or-later
// Where a core trace begins in a buffer that was written round and round and dumped from its first
// byte: behind the COMPLETE stamp that the newest end has left. htm-core-trace(5), FRAMING.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace htmtrace {

// Takes the whole dump, piece by piece, each but the last of whole words.
class WrapFinder {
 public:
  void take(std::span<const std::byte> piece);

  // Enough is known to say that the dump did not wrap.
  bool settled() const { return starts_with_record_; }

  // The offset of the oldest word; nothing when the dump has its order, or does not tell where it
  // begins (several places could be it).
  std::optional<uint64_t> oldest() const;

 private:
  void take_word(uint64_t word);

  uint64_t offset_ = 0;              // of the word to come
  bool starts_with_record_ = false;  // tracing began at the begin of the buffer
  bool behind_complete_ = false;     // only filler and companions since the last COMPLETE
  uint64_t end_ = 0;                 // behind that
  uint64_t found_ = 0;
  unsigned places_ = 0;  // COMPLETE stamps with something else than a new start behind them
};

}  // namespace htmtrace

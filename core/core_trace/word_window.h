// SPDX-License-Identifier: GPL-2.0-or-later
// Holds the words of a record that spans two pieces of the trace or contains stamps.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/base/big_endian.h"
#include "core/core_trace/framing.h"
#include "core/core_trace/words.h"

namespace htmtrace {

// Offsets of the words of a run in the trace.
struct WordOffsets {
  uint64_t first = 0;
  const uint64_t* each = nullptr;  // null: the words are consecutive
  uint64_t operator[](size_t i) const {
    return each != nullptr ? each[i] : first + i * words::kWordBytes;
  }
};

// Holds the longest record and one more word, without stamps.
class WordWindow {
 public:
  bool empty() const { return count_ == 0; }

  void append(uint64_t word, uint64_t offset) {
    store_be64(bytes_.data() + count_ * words::kWordBytes, word);
    offsets_[count_++] = offset;
  }

  // The window begins with an XLATE, and neither of the last two words can end it. Decoding long
  // XLATEs after each word would take quadratic time.
  bool in_walk() const {
    if (count_ < 3 || count_ >= words::kXlateWords || !words::is_xlate(word(0))) return false;
    const auto may_end = [](uint64_t word) {
      return words::walk_end(word) || words::is_power10(word);
    };
    return !may_end(word(count_ - 1)) && !may_end(word(count_ - 2));
  }

  // `last`: the trace ends after these words.
  WordRun run(bool last, bool in_sync) const {
    return {.words = bytes_.data(),
            .count = count_,
            .filtered = true,
            .last = last,
            .in_sync = in_sync};
  }
  WordOffsets offsets() const { return {.first = 0, .each = offsets_.data()}; }

  // Removes the first `used` words after decoding.
  void drop(size_t used) {
    count_ -= used;
    std::memmove(bytes_.data(), bytes_.data() + used * words::kWordBytes,
                 count_ * words::kWordBytes);
    std::copy_n(offsets_.data() + used, count_, offsets_.data());
  }

 private:
  uint64_t word(size_t index) const { return load_be64(bytes_.data() + index * words::kWordBytes); }

  static constexpr size_t kWords = words::kXlateWords + 1;

  std::array<std::byte, kWords * words::kWordBytes> bytes_{};
  std::array<uint64_t, kWords> offsets_{};
  size_t count_ = 0;
};

// The bytes of a word that continues in the next piece.
class LooseBytes {
 public:
  size_t count() const { return count_; }
  const std::byte* data() const { return bytes_.data(); }

  // Copies up to the missing bytes of the word. Returns the number of copied bytes.
  size_t take(const std::byte* from, size_t count) {
    const size_t taken = std::min(count, words::kWordBytes - count_);
    std::copy_n(from, taken, bytes_.data() + count_);
    count_ += taken;
    return taken;
  }
  bool whole() const { return count_ == words::kWordBytes; }
  void clear() { count_ = 0; }

 private:
  std::array<std::byte, words::kWordBytes> bytes_{};
  size_t count_ = 0;
};

}  // namespace htmtrace

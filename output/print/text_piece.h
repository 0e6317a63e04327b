// SPDX-License-Identifier: GPL-2.0-or-later
// Short text that is copied at a fixed size. Copying a whole piece and then advancing by the length
// of its text takes two instructions. Copying text of variable length takes a call.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace htmtrace {

// Holds text of at most kSize characters.
template <size_t kSize>
class TextPiece {
 public:
  constexpr TextPiece() = default;
  constexpr explicit TextPiece(std::string_view text) { set(text); }

  // Truncates longer text.
  constexpr void set(std::string_view text) {
    size_ = static_cast<uint8_t>(std::min(text.size(), kSize));
    std::copy_n(text.data(), size_, text_.data());
  }
  // Requires room for the text.
  constexpr void append(std::string_view text) {
    for (const char character : text) text_.at(size_++) = character;
  }
  constexpr size_t size() const { return size_; }
  constexpr std::string_view text() const { return {text_.data(), size_}; }

  // Writes kSize characters. Returns the end of the text.
  [[gnu::always_inline]] char* put(char* to) const {
    std::memcpy(to, text_.data(), kSize);
    return to + size_;
  }

 private:
  static_assert(kSize < 256);
  std::array<char, kSize> text_{};
  uint8_t size_ = 0;
};

}  // namespace htmtrace

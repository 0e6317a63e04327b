// SPDX-License-Identifier: GPL-2.0-or-later
// Bus commands and responses as lines of text: htmtrace-decode(1), NEST TRACES. What a line is made
// of lies ready in pieces of fixed size: to copy one of them whole and to go on behind its text
// takes two instructions, to copy text of any length takes a call.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "core/nest_decoder.h"
#include "core/translation_map.h"
#include "output/text_output.h"

namespace htmtrace {

// Text of at most kSize characters.
template <size_t kSize>
class TextPiece {
 public:
  // What is longer is cut off.
  void set(std::string_view text) {
    size_ = static_cast<uint8_t>(std::min(text.size(), kSize));
    text.copy(text_.data(), size_);
  }
  size_t size() const { return size_; }

  // Writes kSize characters; returns the place behind the text.
  char* put(char* to) const {
    std::memcpy(to, text_.data(), kSize);
    return to + size_;
  }

 private:
  static_assert(kSize < 256);
  std::array<char, kSize> text_{};
  uint8_t size_ = 0;
};

class NestText {
 public:
  explicit NestText(nest::Layout layout);

  // Writes the line of a command or a response, and beyond its end; there must be room for kMost
  // characters. `la` is that of a command with an address, where one is known.
  static constexpr size_t kMost = 384;
  static_assert(kMost <= TextOutput::kRoom);
  char* put(char* to, const nest::Event& event, const std::optional<LogicalAddr>& la) {
    return event.kind == nest::Event::Kind::kCommand ? put_command(to, event, la)
                                                     : put_response(to, event);
  }

 private:
  static constexpr unsigned kUnits = 1 << 10;  // numbers that the layouts have room for
  using Piece24 = TextPiece<24>;
  using Piece40 = TextPiece<40>;

  char* put_command(char* to, const nest::Event& event, const std::optional<LogicalAddr>& la);
  char* put_response(char* to, const nest::Event& event);
  char* put_time(char* to, uint64_t time);
  char* put_new_time(char* to, uint64_t time);
  char* put_place(char* to, unsigned scope, unsigned port, unsigned group, unsigned chip,
                  unsigned ticket) const;

  nest::Layout layout_;
  const nest::Names& names_;

  // "time=" and all but the last four digits of a time shortly before.
  uint64_t recent_time_ = 10000;  // with zeros in their place; never less than this
  Piece40 recent_text_;

  std::array<Piece24, 256> engines_;              // " engine=0 command="
  std::vector<Piece40> commands_;                 // "rd_go_s ra=", by row of the names
  std::array<std::array<Piece24, 4>, 8> scopes_;  // " scope=G port=1 group="
  std::array<std::array<Piece24, 8>, 16> chips_;  // "1 chip=2 ticket="
  std::array<std::array<char, 2>, 256> hex_{};    // "00", "01", ...
  std::vector<Piece40> units_;                    // " unit=042:core transaction="
  // "go_Me:ed" and the end of the line
  std::array<std::array<Piece24, nest::kResponseCodes>, nest::kResponseClasses> responses_;
};

// "Ln", "Nn", "G", ...
std::string_view nest_scope_name(nest::Layout layout, unsigned scope);

}  // namespace htmtrace

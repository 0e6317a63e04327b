// SPDX-License-Identifier: GPL-2.0-or-later
// Prints bus commands and responses as lines of text: htmtrace-decode(1), NEST TRACES. The pieces
// of a line are cached at fixed size. Most pieces hold the value of a field and the name of the
// next field.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/memory_map/translation.h"
#include "core/nest_trace/decoder.h"
#include "output/io/text_output.h"
#include "output/print/text_piece.h"

namespace htmtrace {

class NestText {
 public:
  explicit NestText(nest::Layout layout);

  // Writes the line of a command or a response, and more characters beyond its end. Requires room
  // for kMost characters. `la` is the logical address of a command with an address, if known.
  static constexpr size_t kMost = 384;
  static_assert(kMost <= TextOutput::kRoom);
  char* put(char* to, const nest::Event& event, const std::optional<LogicalAddr>& la) {
    return event.kind == nest::Event::Kind::kCommand ? put_command(to, event, la)
                                                     : put_response(to, event);
  }

 private:
  static constexpr unsigned kUnits = 1 << 10;  // the layouts have fields for these unit numbers
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

  // "time=" and all but the last four digits of a recent time.
  uint64_t recent_time_ = 10000;  // the last four digits are zero; later times are never less
  Piece40 recent_text_;

  std::array<Piece24, 256> engines_;              // " engine=0 command="
  std::vector<Piece40> commands_;                 // "rd_go_s ra=", indexed by row of the name table
  std::array<std::array<Piece24, 4>, 8> scopes_;  // " scope=G port=1 group="
  std::array<std::array<Piece24, 8>, 16> chips_;  // "1 chip=2 ticket="
  std::array<std::array<char, 2>, 256> hex_{};    // "00", "01", ...
  std::vector<Piece40> units_;                    // " unit=042:core transaction="
  // "go_Me:ed" and the end of the line. The last piece of each class is for commands without a
  // response.
  std::array<std::array<Piece24, nest::kResponseCodes + 1>, nest::kResponseClasses> responses_;
};

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/print/nest_text.h"

#include <fmt/core.h>

#include <bit>

#include "core/nest_trace/units.h"
#include "output/io/hex_text.h"
#include "output/io/put_text.h"

namespace htmtrace {
namespace {

using nest::Event;
using nest::Layout;

constexpr char kNoAddress[] = "----------------";
constexpr uint64_t kFourDigits = 10000;

template <size_t kSize>
char* put_literal(char* to, const char (&text)[kSize]) {
  std::memcpy(to, text, kSize - 1);
  return to + kSize - 1;
}

char* put_address(char* to, bool known, uint64_t address) {
  return known ? put_hex64(to, address) : put_literal(to, kNoAddress);
}

// Requires a number below 10000.
char* put_four_digits(char* to, uint32_t value) {
  const uint32_t pairs = value / 100 | value % 100 << 16;
  const uint32_t tens = pairs * 103 >> 10 & 0x000f000f;
  uint32_t digits = (tens | (pairs - tens * 10) << 8) | 0x30303030;
  if constexpr (std::endian::native == std::endian::big) digits = __builtin_bswap32(digits);
  std::memcpy(to, &digits, sizeof(digits));
  return to + sizeof(digits);
}

}  // namespace

std::string_view nest_scope_name(Layout layout, unsigned scope) {
  static constexpr std::array<std::string_view, 8> kPower8 = {"NP", "GP", "SP", "RP",
                                                              "FP", "FP", "FP", "FP"};
  static constexpr std::array<std::string_view, 8> kPower9 = {"Ln", "1",  "Nn", "G",
                                                              "Rn", "Vg", "6",  "7"};
  return (layout == Layout::kPower8 ? kPower8 : kPower9).at(scope % 8);
}

NestText::NestText(Layout layout)
    : layout_(layout), names_(nest::names_of(layout)), units_(kUnits) {
  recent_text_.set("time=1");
  for (unsigned i = 0; i < engines_.size(); i++) {
    engines_[i].set(fmt::format(" engine={} command=", i));
  }
  for (const nest::CommandRow& row : names_.rows()) {
    commands_.emplace_back().set(fmt::format("{} ra=", row.name));
  }
  for (unsigned scope = 0; scope < scopes_.size(); scope++) {
    for (unsigned port = 0; port < scopes_[scope].size(); port++) {
      scopes_[scope][port].set(
          fmt::format(" scope={} port={} group=", nest_scope_name(layout, scope), port));
    }
  }
  for (unsigned group = 0; group < chips_.size(); group++) {
    for (unsigned chip = 0; chip < chips_[group].size(); chip++) {
      chips_[group][chip].set(fmt::format("{} chip={} ticket=", group, chip));
    }
  }
  for (unsigned i = 0; i < hex_.size(); i++) fmt::format_to_n(hex_[i].data(), 2, "{:02x}", i);
  for (unsigned unit = 0; unit < kUnits; unit++) {
    units_[unit].set(
        fmt::format(" unit={:03x}:{} transaction=", unit, nest::unit_name(layout, unit)));
  }
  for (unsigned i = 0; i < nest::kResponseClasses; i++) {
    for (unsigned code = 0; code < nest::kResponseCodes; code++) {
      const std::string_view name = names_.response(static_cast<nest::ResponseClass>(i), code);
      responses_[i][code].set(name.empty() ? fmt::format("{:02x}\n", code)
                                           : fmt::format("{}\n", name));
    }
  }
}

char* NestText::put_new_time(char* to, uint64_t time) {
  char* const end = put_decimal(put_literal(to, "time="), time);
  // Caches only times from which an early time cannot appear to be slightly later.
  if (time >= kFourDigits && time >> 63 == 0) {
    recent_time_ = time - time % kFourDigits;
    recent_text_.set({to, static_cast<size_t>(end - to) - 4});
  }
  return end;
}

inline char* NestText::put_time(char* to, uint64_t time) {
  const uint64_t ahead = time - recent_time_;
  if (ahead >= kFourDigits) [[unlikely]]
    return put_new_time(to, time);
  return put_four_digits(recent_text_.put(to), static_cast<uint32_t>(ahead));
}

inline char* NestText::put_place(char* to, unsigned scope, unsigned port, unsigned group,
                                 unsigned chip, unsigned ticket) const {
  to = scopes_[scope % 8][port % 4].put(to);
  to = chips_[group % 16][chip % 8].put(to);
  std::memcpy(to, hex_[ticket % 256].data(), 2);
  return to + 2;
}

char* NestText::put_command(char* to, const Event& event, const std::optional<LogicalAddr>& la) {
  const nest::Command command = nest::command_of(layout_, event.record);
  const nest::CommandName& name = names_.command(command.ttype, command.tsize);
  to = engines_[event.engine].put(put_time(to, event.time));
  if (name.name.empty()) [[unlikely]] {
    std::memcpy(to, hex_[command.ttype % 256].data(), 2);
    std::memcpy(to + 2, hex_[command.tsize % 256].data(), 2);
    to = put_literal(to + 4, " ra=");
  } else {
    to = commands_[name.row].put(to);
  }
  to = put_address(to, name.port == nest::PortRule::kAddress, command.address);
  to = put_literal(to, " la=");
  to = put_address(to, la.has_value(), la ? la->value : 0);
  const nest::Tag& tag = command.tag;
  to = put_place(to, command.scope, event.port, tag.group, tag.chip, command.ticket);
  to = units_[tag.unit % kUnits].put(to);
  static constexpr char kTail[] = "00 tsize=00 response=";
  std::memcpy(to, kTail, sizeof(kTail) - 1);
  std::memcpy(to, hex_[tag.transaction % 256].data(), 2);
  std::memcpy(to + 9, hex_[command.tsize % 256].data(), 2);
  to += sizeof(kTail) - 1;
  if (!event.has_response) return put_literal(to, "-\n");
  return responses_[static_cast<size_t>(name.response)][event.response % nest::kResponseCodes].put(
      to);
}

char* NestText::put_response(char* to, const Event& event) {
  const nest::Response response = nest::response_of(layout_, event.record, event.slot);
  to = put_literal(engines_[event.engine].put(put_time(to, event.time)), "-");
  to = put_place(to, response.scope, event.port, response.group, response.chip, response.ticket);
  to = put_literal(to, " response=");
  std::memcpy(to, hex_[response.code % 256].data(), 2);
  return put_literal(to + 2, "\n");
}

}  // namespace htmtrace

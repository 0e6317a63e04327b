// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/print/nest_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "core/nest_trace/units.h"
#include "output/io/hex_text.h"
#include "output/io/put_text.h"
#include "output/print/field_list.h"
#include "output/print/nest_fields.h"

namespace htmtrace {
namespace {

using nest::Event;
using nest::Layout;

// " ra=" and so on.
template <NestField kField>
constexpr std::string_view kLabel = kTextLabel<kField>.text();
constexpr std::string_view kTimeLabel = kLabel<NestField::kTime>.substr(1);  // starts the line

constexpr char kNoAddress[] = "----------------";
constexpr uint64_t kFourDigits = 10000;
constexpr std::string_view kDigits = "00";  // of a code

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

NestText::NestText(Layout layout)
    : layout_(layout), names_(nest::names_of(layout)), units_(kUnits) {
  using enum NestField;
  recent_text_.set(fmt::format("{}1", kTimeLabel));
  for (unsigned i = 0; i < engines_.size(); i++) {
    engines_[i].set(fmt::format("{}{}{}", kLabel<kEngine>, i, kLabel<kCommand>));
  }
  for (const nest::CommandRow& row : names_.rows()) {
    commands_.emplace_back().set(fmt::format("{}{}", row.name, kLabel<kRa>));
  }
  for (unsigned scope = 0; scope < scopes_.size(); scope++) {
    for (unsigned port = 0; port < scopes_[scope].size(); port++) {
      scopes_[scope][port].set(fmt::format("{}{}{}{}{}", kLabel<kScope>,
                                           nest_scope_name(layout, scope), kLabel<kPort>, port,
                                           kLabel<kGroup>));
    }
  }
  for (unsigned group = 0; group < chips_.size(); group++) {
    for (unsigned chip = 0; chip < chips_[group].size(); chip++) {
      chips_[group][chip].set(fmt::format("{}{}{}{}", group, kLabel<kChip>, chip, kLabel<kTicket>));
    }
  }
  for (unsigned i = 0; i < hex_.size(); i++) fmt::format_to_n(hex_[i].data(), 2, "{:02x}", i);
  for (unsigned unit = 0; unit < kUnits; unit++) {
    units_[unit].set(fmt::format("{}{:03x}:{}{}", kLabel<kUnit>, unit,
                                 nest::unit_name(layout, unit), kLabel<kTransaction>));
  }
  for (unsigned i = 0; i < nest::kResponseClasses; i++) {
    for (unsigned code = 0; code < nest::kResponseCodes; code++) {
      const std::string_view name = names_.response(static_cast<nest::ResponseClass>(i), code);
      responses_[i][code].set(name.empty() ? fmt::format("{:02x}\n", code)
                                           : fmt::format("{}\n", name));
    }
    responses_[i][nest::kResponseCodes].set("-\n");
  }
}

char* NestText::put_new_time(char* to, uint64_t time) {
  char* const end = put_decimal(put_text(to, kTimeLabel), time);
  // For an earlier time, the difference in put_time() wraps. It is still large, because the cache
  // holds no time of 2^63 or more.
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
    to = kTextLabel<NestField::kRa>.put(to + 4);
  } else {
    to = commands_[name.row].put(to);
  }
  to = put_address(to, name.port == nest::PortRule::kAddress, command.address);
  to = kTextLabel<NestField::kLa>.put(to);
  to = put_address(to, la.has_value(), la ? la->value : 0);
  const nest::Tag& tag = command.tag;
  to = put_place(to, command.scope, event.port, tag.group, tag.chip, command.ticket);
  to = units_[tag.unit % kUnits].put(to);
  static constexpr auto kTail = joined([] {
    return std::array{kDigits, kLabel<NestField::kTsize>, kDigits, kLabel<NestField::kResponse>};
  });
  constexpr size_t kTsizeAt = kDigits.size() + kLabel<NestField::kTsize>.size();
  char* const end = kTail.put(to);
  std::memcpy(to, hex_[tag.transaction % 256].data(), 2);
  std::memcpy(to + kTsizeAt, hex_[command.tsize % 256].data(), 2);
  // No branch, because no processor can predict whether a command has a response. The compiler
  // turned a conditional expression into a branch.
  const size_t code =
      std::min<size_t>(event.response % nest::kResponseCodes +
                           nest::kResponseCodes * static_cast<size_t>(!event.has_response),
                       nest::kResponseCodes);
  return responses_[static_cast<size_t>(name.response)][code].put(end);
}

char* NestText::put_response(char* to, const Event& event) {
  const nest::Response response = nest::response_of(layout_, event.record, event.slot);
  to = put_literal(engines_[event.engine].put(put_time(to, event.time)), "-");
  to = put_place(to, response.scope, event.port, response.group, response.chip, response.ticket);
  to = kTextLabel<NestField::kResponse>.put(to);
  std::memcpy(to, hex_[response.code % 256].data(), 2);
  return put_literal(to + 2, "\n");
}

}  // namespace htmtrace

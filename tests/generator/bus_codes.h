// SPDX-License-Identifier: GPL-2.0-or-later
// The codes of bus commands and responses, for the generator of bus traces. Shares nothing with the
// tables of the decoder, so that a mistake in either shows.
#pragma once

#include <span>
#include <string_view>

namespace htmtrace::generator {

// A code as its bits; '-' is a bit that can have any value. `port` says what the port is, and with
// it whether the command has an address:
//   a  the command has an address, whose bits are the port
//   0, 2, 3  this port
//   t  1 if the transaction is odd, else 0
//   e  the last but one bit of the secondary encoding
//   f  the lower one of the two bits that are the port of an address
struct BusCommandCode {
  std::string_view ttype;
  std::string_view encoding;
  std::string_view name;
  std::string_view response_class;
  char port;
};

struct BusResponseCode {
  std::string_view response_class;
  unsigned code;
  std::string_view name;
};

struct BusCodes {
  std::span<const BusCommandCode> commands;
  std::span<const BusResponseCode> responses;
};

const BusCodes& power8_bus_codes();
const BusCodes& power9_bus_codes();

}  // namespace htmtrace::generator

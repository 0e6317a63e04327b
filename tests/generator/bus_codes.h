// SPDX-License-Identifier: GPL-2.0-or-later
// The codes of bus commands and responses, for the generator of bus traces. These tables are
// independent of the decoder's, so that a mistake in either shows.
#pragma once

#include <span>
#include <string_view>

namespace htmtrace::generator {

// A code as its bits; '-' is a bit with any value. `port` is the rule for the port, and shows
// whether the command has an address:
//   a  the command has an address, and its bits contain the port
//   0, 2, 3  this port
//   t  1 if the transaction is odd, otherwise 0
//   e  the second-lowest bit of the secondary encoding
//   f  the lower of the two bits that contain the port of an address
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

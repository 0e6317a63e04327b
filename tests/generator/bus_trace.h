// SPDX-License-Identifier: GPL-2.0-or-later
// Random bus traces of one engine, with the true commands and the response of each command. Open
// commands often have the same key. Uses no code of the decoder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/generator/generated_trace.h"

namespace htmtrace::generator {

// A command, or a response that belongs to no command.
struct BusLine {
  uint64_t offset = 0;  // offset of its record in the trace of its engine
  uint64_t time = 0;
  unsigned engine = 0;
  bool is_command = false;
  unsigned group = 0, chip = 0, unit = 0, transaction = 0;
  unsigned scope = 0, ticket = 0, ttype = 0, tsize = 0, port = 0;
  unsigned source = 0, priority = 0;
  std::string_view name;  // empty: no command has this code
  std::string_view response_class;
  std::string_view unit_name;
  std::optional<uint64_t> address;
  std::optional<uint64_t> logical;
  std::optional<unsigned> response;  // code
  std::string_view response_name;    // empty: the class has no such code
  bool retry = false;

  std::string command_text() const;  // its name, or its code
  std::string text(bool power8) const;
  std::string json(bool power8, std::string_view target) const;
  std::string csv(bool power8, std::string_view target) const;
};

struct BusCounts {
  uint64_t commands = 0, unnamed_commands = 0;
  uint64_t response_records = 0, responses = 0;
  uint64_t matched = 0, ambiguous = 0, unnamed_responses = 0;
  uint64_t stamps = 0, filler = 0;
};

struct BusTrace {
  std::vector<uint64_t> words;
  std::vector<BusLine> lines;
  BusCounts counts;
};

// Times begin at `begin`, which is 0 for POWER8, whose stamps have no timer.
BusTrace random_bus_trace(Random& random, bool power8, unsigned engine, unsigned records,
                          uint64_t begin);

}  // namespace htmtrace::generator

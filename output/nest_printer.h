// SPDX-License-Identifier: GPL-2.0-or-later
// Events of a nest trace as text, JSON Lines, CSV, or the lines that the perf tool reads. The
// formats are interfaces: htmtrace-decode(1), NEST TRACES.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/nest_decoder.h"
#include "core/nest_events.h"
#include "core/translation_map.h"
#include "output/nest_text.h"
#include "output/text_output.h"

namespace htmtrace {

inline constexpr std::string_view kNestCsvHeading =
    "target,offset,time,engine,kind,name,ra,la,scope,port,group,chip,unit,unit_name,transaction,"
    "ticket,tsize,response\n";

class NestPrinter {
 public:
  enum class Format : uint8_t { kText, kJson, kCsv, kHtmdecode };
  struct Wishes {
    Format format = Format::kText;
    bool stamps = false;
    std::string target;
  };

  NestPrinter(TextOutput& output, nest::Layout layout, Wishes wishes);

  // `la` is that of a command with an address, where one is known.
  void event(const nest::Event& event, std::optional<LogicalAddr> la);

 private:
  struct Fields;
  Fields fields_of(const nest::Event& event, std::optional<LogicalAddr> la) const;
  char* put_htmdecode_line(char* at, const Fields& fields) const;
  void put_json(const Fields& fields);
  void put_csv(const Fields& fields);
  void put_stamp(const nest::Event& event);

  TextOutput& output_;
  nest::Layout layout_;
  Wishes wishes_;
  std::string target_;  // as the format writes it
  const nest::Names& names_;
  std::vector<std::string_view> units_;  // by number
  NestText text_;
};

}  // namespace htmtrace

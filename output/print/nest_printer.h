// SPDX-License-Identifier: GPL-2.0-or-later
// Prints events of a nest trace as text, JSON Lines, CSV, or the lines that the perf tool reads.
// htmtrace-decode(1), NEST TRACES, defines the formats as interfaces.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/memory_map/translation.h"
#include "core/nest_trace/decoder.h"
#include "core/nest_trace/events.h"
#include "output/io/text_output.h"
#include "output/print/nest_text.h"

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

  // `la` is the logical address of a command with an address, if known.
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
  std::string target_;  // in the syntax of the format
  const nest::Names& names_;
  std::vector<std::string_view> units_;  // indexed by unit number
  NestText text_;
};

}  // namespace htmtrace

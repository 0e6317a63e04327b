// SPDX-License-Identifier: GPL-2.0-or-later
// Prints events of a nest trace as text, JSON Lines, CSV, or the lines that the perf tool reads.
// htmtrace-decode(1), NEST TRACES, defines the formats as interfaces.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/memory_map/translation.h"
#include "core/nest_trace/events.h"
#include "output/io/text_output.h"
#include "output/print/csv_printer.h"
#include "output/print/field_list.h"
#include "output/print/nest_fields.h"
#include "output/print/nest_text.h"

namespace htmtrace {

inline constexpr CsvHeading kNestCsvHeadingText = [] {
  CsvHeading heading;
  append_columns(heading, kCsvColumns<NestField>, false);
  heading.append("\n");
  return heading;
}();
inline constexpr std::string_view kNestCsvHeading = kNestCsvHeadingText.text();

class NestPrinter {
 public:
  enum class Format : uint8_t { kText, kJson, kCsv, kHtmdecode };
  struct Wishes {
    Format format = Format::kText;
    bool stamps = false;
    std::string target;
  };

  NestPrinter(TextOutput& output, nest::Layout layout, Wishes wishes);

  // `la` is the logical address of a command with an address, if known. Accepts a reference: a copy
  // would load the value and the flag of the optional at once. The caller has just stored them one
  // by one, so the load would wait for both stores.
  void event(const nest::Event& event, const std::optional<LogicalAddr>& la) {
    using enum nest::Event::Kind;
    if (as_text_lines_ && (event.kind == kCommand || event.kind == kResponse)) {
      output_.commit(text_.put(output_.room(), event, la));
    } else {
      put_other(event, la);
    }
  }

 private:
  void put_other(const nest::Event& event, const std::optional<LogicalAddr>& la);
  void put_htmdecode_line(const NestValues& values);
  void put_json_line(const NestValues& values);
  void put_csv_line(const NestValues& values);
  void put_stamp(const nest::Event& event);

  TextOutput& output_;
  nest::Layout layout_;
  Wishes wishes_;
  bool as_text_lines_;  // text_ prints the commands and responses
  std::string target_;  // in the syntax of the format
  NestReader reader_;
  NestText text_;
};

}  // namespace htmtrace

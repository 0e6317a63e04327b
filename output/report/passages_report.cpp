// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/report/passages_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "core/base/counted.h"
#include "output/io/json_writer.h"
#include "output/io/shares.h"
#include "output/report/parts.h"

namespace htmtrace {
namespace {

// The first length of an element of PassageLengths::Doublings.
uint64_t first_length(size_t doubling) {
  return doubling == 0 ? 0 : uint64_t{1} << (doubling - 1);
}

uint64_t last_length(size_t doubling) {
  constexpr size_t kWhole = PassageLengths::kDoublings - 1;
  return doubling == kWhole ? ~uint64_t{0} : (uint64_t{1} << doubling) - 1;
}

void add_text(const PassageLengths& lengths, const char* unit, uint64_t passages,
              std::string& text) {
  constexpr uint64_t kBar = 20;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "\n{}:", unit);
  if (lengths.count != 0) {
    fmt::format_to(out, " minimum {}, mean {}, maximum {}", lengths.least,
                   decimal(lengths.sum / lengths.count * 1000 +
                           lengths.sum % lengths.count * 1000 / lengths.count),
                   lengths.most);
  }
  fmt::format_to(out, "\n  {:>20} {:>20} {:>12} {:>9} {:>12}\n", "from", "to", "passages", "share",
                 "at least");
  for (size_t i = 0; i < PassageLengths::kDoublings; i++) {
    const uint64_t exact = lengths.exact.at(i);
    const uint64_t at_least = lengths.at_least.at(i);
    if (exact == 0 && at_least == 0) continue;
    const uint64_t bar = passages == 0 ? 0 : (exact * kBar + passages - 1) / passages;
    fmt::format_to(out, "  {:>20} {:>20} {:>12} {:>9} {:>12}{}{}\n", first_length(i),
                   last_length(i), exact, share(exact, passages), at_least, bar == 0 ? "" : "  ",
                   std::string(bar, '#'));
  }
}

void add_json(const PassageLengths& lengths, const char* key, JsonWriter& json) {
  json.begin_object(key);
  json.number("exact", lengths.count);
  json.number("sum", lengths.sum);
  if (lengths.count == 0) {
    json.null("least");
    json.null("most");
  } else {
    json.number("least", lengths.least);
    json.number("most", lengths.most);
  }
  json.begin_array("histogram");
  for (size_t i = 0; i < PassageLengths::kDoublings; i++) {
    if (lengths.exact.at(i) == 0 && lengths.at_least.at(i) == 0) continue;
    json.begin_object();
    json.number("from", first_length(i));
    json.number("to", last_length(i));
    json.number("exact", lengths.exact.at(i));
    json.number("at_least", lengths.at_least.at(i));
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

}  // namespace

std::string PassagesReport::to_text() const {
  std::string text = fmt::format("{}: {}\n", counted(traces, "trace"), describe(totals));
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "\npassages from {} to {}\n", from, to);
  const auto line = [&](const char* what, uint64_t count) {
    fmt::format_to(out, "  {:<28} {:>16}\n", what, count);
  };
  line("complete passages", passages.passages());
  line("passages cut short", passages.cut_passages());
  line("passages begun again", passages.begun_again());
  line("executions of FROM", passages.begins());
  line("executions of TO", passages.ends());
  const auto longest = [&](const char* what, const std::optional<PassagePlace>& place) {
    // Without ticks, each passage would have the most.
    if (!place || place->length == 0) return;
    fmt::format_to(out, "  {:<28} --instructions {}-{}", what, place->begin,
                   std::max(place->begin, place->end - 1));
    if (traces > 1) fmt::format_to(out, " of trace {}", place->trace + 1);
    text += '\n';
  };
  longest("most instructions", passages.most_instructions());
  longest("most ticks", passages.most_ticks());
  const uint64_t all = passages.passages() + passages.cut_passages();
  add_text(passages.instructions(), "instructions", all, text);
  add_text(passages.ticks(), "ticks", all, text);
  return text;
}

std::string PassagesReport::to_json() const {
  JsonWriter json;
  json.begin_object();
  write_basis(json, "htmtrace-passages", totals, traces);
  json.text("from", from);
  json.text("to", to);
  json.number("complete", passages.passages());
  json.number("cut", passages.cut_passages());
  json.number("begun_again", passages.begun_again());
  json.number("begins", passages.begins());
  json.number("ends", passages.ends());
  const auto longest = [&](const char* key, const std::optional<PassagePlace>& place) {
    if (!place || place->length == 0) return json.null(key);
    json.begin_object(key);
    json.number("trace", place->trace);
    json.number("begin", place->begin);
    json.number("end", place->end);
    json.number("length", place->length);
    json.end_object();
  };
  longest("most_instructions", passages.most_instructions());
  longest("most_ticks", passages.most_ticks());
  add_json(passages.instructions(), "instructions", json);
  add_json(passages.ticks(), "ticks", json);
  json.end_object();
  return json.take();
}

}  // namespace htmtrace

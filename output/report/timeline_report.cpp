// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/report/timeline_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "core/base/counted.h"
#include "output/io/csv_field.h"
#include "output/io/json_writer.h"
#include "output/io/shares.h"
#include "output/report/parts.h"

namespace htmtrace {
namespace {

constexpr size_t kBarWidth = 20;

uint64_t most_ticks_each(const Timeline& timeline) {
  uint64_t most = 0;
  for (size_t i = 0; i < timeline.windows().size(); i++) {
    most = std::max(most, ticks_each(timeline, i).value_or(0));
  }
  return most;
}

void add_trace_text(const TimelineReport::Trace& trace, std::string& text) {
  const Timeline& timeline = trace.timeline;
  const auto out = std::back_inserter(text);
  const uint64_t ticks = timeline.ticks();
  fmt::format_to(out, "\n{}\nwindows of {}, {}{}\n", trace.name,
                 counted(timeline.window_instructions(), "instruction"), counted(ticks, "tick"),
                 ticks == 0 ? ": the trace has no times" : "");
  fmt::format_to(out, "{:>16} {:>12} {:>14} {:>10} {:>9} {:>9} {:>9} {:>12} {:>7}\n", "instruction",
                 "reported", "ticks", "each", "user", "kernel", "others", "data", "losses");
  const uint64_t most = most_ticks_each(timeline);
  for (size_t i = 0; i < timeline.windows().size(); i++) {
    const Timeline::Window& window = timeline.windows()[i];
    const auto of = [&](Privilege privilege) {
      return window.by_privilege.at(static_cast<size_t>(privilege));
    };
    const uint64_t user = of(Privilege::kUser), kernel = of(Privilege::kKernel);
    const auto each = ticks_each(timeline, i);
    const bool timed = ticks != 0 && each;
    const size_t bar = most == 0 ? 0 : (each.value_or(0) * kBarWidth + most - 1) / most;
    fmt::format_to(out, "{:>16} {:>12} {:>14} {:>10} {:>9} {:>9} {:>9} {:>12} {:>7}{}{}\n",
                   timeline.first() + i * timeline.window_instructions(), window.reported,
                   ticks != 0 ? std::to_string(window.ticks) : "-", timed ? decimal(*each) : "-",
                   share(user, window.reported), share(kernel, window.reported),
                   share(window.reported - user - kernel, window.reported), window.data_accesses,
                   window.losses, bar != 0 ? "  " : "", std::string(bar, '#'));
  }
}

void add_trace_json(const TimelineReport::Trace& trace, JsonWriter& json) {
  const Timeline& timeline = trace.timeline;
  json.begin_object();
  json.text("trace", trace.name);
  json.number("window_instructions", timeline.window_instructions());
  json.number("ticks", timeline.ticks());
  json.begin_array("windows");
  for (size_t i = 0; i < timeline.windows().size(); i++) {
    const Timeline::Window& window = timeline.windows()[i];
    json.begin_object();
    json.number("first", timeline.first() + i * timeline.window_instructions());
    json.number("instructions", timeline.instructions_of(i));
    json.number("ticks", window.ticks);
    json.number("reported", window.reported);
    json.begin_object("by_privilege");
    for (size_t k = 0; k < kPrivileges; k++) {
      json.number(kPrivilegeNames.at(k), window.by_privilege.at(k));
    }
    json.end_object();
    json.number("data_accesses", window.data_accesses);
    json.number("losses", window.losses);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

}  // namespace

std::optional<uint64_t> ticks_each(const Timeline& timeline, size_t window) {
  const uint64_t instructions = timeline.instructions_of(window);
  if (instructions == 0) return std::nullopt;
  __extension__ typedef unsigned __int128 Wide;
  return static_cast<uint64_t>(Wide{timeline.windows()[window].ticks} * 1000 / instructions);
}

std::string TimelineReport::to_text() const {
  std::string text = fmt::format("{}: {}\n", counted(traces.size(), "trace"), describe(totals));
  for (const Trace& trace : traces) add_trace_text(trace, text);
  return text;
}

std::string TimelineReport::to_json() const {
  JsonWriter json;
  json.begin_object();
  write_basis(json, "htmtrace-timeline", totals, traces.size());
  json.begin_array("timelines");
  for (const Trace& trace : traces) add_trace_json(trace, json);
  json.end_array();
  json.end_object();
  return json.take();
}

std::string TimelineReport::to_csv() const {
  std::string text = "trace,first,instructions,ticks,reported";
  for (const std::string_view name : kPrivilegeNames) text += fmt::format(",{}", name);
  text += ",data_accesses,losses\n";
  const auto out = std::back_inserter(text);
  for (const Trace& trace : traces) {
    const Timeline& timeline = trace.timeline;
    const std::string name = csv_field(trace.name);
    for (size_t i = 0; i < timeline.windows().size(); i++) {
      const Timeline::Window& window = timeline.windows()[i];
      fmt::format_to(out, "{},{},{},{},{},{},{},{}\n", name,
                     timeline.first() + i * timeline.window_instructions(),
                     timeline.instructions_of(i), window.ticks, window.reported,
                     fmt::join(window.by_privilege, ","), window.data_accesses, window.losses);
    }
  }
  return text;
}

}  // namespace htmtrace

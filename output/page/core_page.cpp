// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/page/core_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <span>

#include "core/base/counted.h"
#include "core/base/size_text.h"
#include "output/io/xml_text.h"
#include "output/page/html_table.h"
#include "output/report/flame_graph.h"
#include "output/report/parts.h"
#include "output/report/walk_report.h"

namespace htmtrace {
namespace {

using Kind = HtmlTable::Kind;

constexpr size_t kListed = 12;         // values of a short list
constexpr size_t kMostTimelines = 16;  // charts

void add_flame_graph(HtmlPage& page, const CallTreeReport& calls) {
  std::string html =
      "<p class=\"note\">A row has the functions that the row above called. The width is the "
      "share of the instructions. Click a function to enlarge it. Keyboard: arrows, Enter, "
      "Escape.</p>\n";
  html += scrolled("flame graph", flame_graph(calls));
  html += "<output id=\"frame\" class=\"c\"></output>\n";
  for (const std::string& line : {describe(calls.stacks), calls.omission()}) {
    if (!line.empty()) html += "<p class=\"note\">" + xml_text(line) + "</p>\n";
  }
  page.section("Flame graph", html);
}

void add_call_tree(HtmlPage& page, const CallTreeReport& calls, size_t most) {
  HtmlTable table("instructions by call stack", {{"instructions", Kind::kNumber},
                                                 {"share", Kind::kNumber},
                                                 {"own", Kind::kNumber},
                                                 {"calls", Kind::kNumber},
                                                 {"function", Kind::kCode}});
  for (const StackTree::Stack stack : calls.in_order(most)) {
    table.line(
        {std::to_string(calls.tree.total(stack)),
         percent_text(calls.tree.total(stack), calls.instructions()),
         std::to_string(calls.tree.own(stack)), calls.calls_text(stack), calls.tree.name(stack)},
        calls.tree.depth(stack) - 1);
  }
  page.section("Call tree", table.take_first_of(calls.tree.size() - 1));
}

void add_code(HtmlPage& page, const HotSpotsReport& hot) {
  const HotSpots& spots = hot.spots;
  HtmlTable table("hot code" + table_remark(spots.code()), {{"instructions", Kind::kNumber},
                                                            {"share", Kind::kNumber},
                                                            {"data accesses", Kind::kNumber},
                                                            {"address", Kind::kCode},
                                                            {"function", Kind::kCode}});
  for (const auto& [key, code] : spots.code().top(hot.top)) {
    const Named name = named_code(spots.symbols(), key);
    table.line({std::to_string(code.count), percent_text(code.count, spots.instructions()),
                std::to_string(code.data), fmt::format("{:016x}", name.address), name.symbol});
  }
  page.section("Functions", table.take_first_of(spots.code().size()));
}

void add_data(HtmlPage& page, const HotSpotsReport& hot, size_t place) {
  const HotSpots& spots = hot.spots;
  const HotTable<HotData>& data = spots.data().at(place);
  const std::string unit = exact_size(spots.wishes().units.at(place));
  HtmlTable table(fmt::format("hot data by {} address, units of {}{}", key_name(spots.wishes().key),
                              unit, table_remark(data)),
                  {{"accesses", Kind::kNumber},
                   {"share", Kind::kNumber},
                   {"loads", Kind::kNumber},
                   {"stores", Kind::kNumber},
                   {"atomics", Kind::kNumber},
                   {"address", Kind::kCode},
                   {"effective", Kind::kCode},
                   {"data", Kind::kCode},
                   {"touched by", Kind::kCode}});
  for (const auto& [key, row] : data.top(hot.top)) {
    table.line({std::to_string(row.count), percent_text(row.count, spots.data_accesses()),
                std::to_string(row.loads), std::to_string(row.stores), std::to_string(row.atomics),
                fmt::format("{:016x}", key), effective_text(row, "", "-"),
                objects_text(spots.symbols(), row, kListed),
                sites_text(spots.symbols(), row, kListed)});
  }
  page.section("Data, " + unit, table.take_first_of(data.size()));
}

template <size_t N, class Count>
std::string mix_table(const char* caption, const char* title,
                      const std::array<std::string_view, N>& names, uint64_t whole,
                      const Count& count) {
  HtmlTable table(
      caption, {{"instructions", Kind::kNumber}, {"share", Kind::kNumber}, {title, Kind::kText}});
  for (size_t i = 0; i < N; i++) {
    if (count(i) == 0) continue;
    table.line({std::to_string(count(i)), percent_text(count(i), whole), std::string(names[i])});
  }
  return table.take();
}

std::string owners_table(const HotSpots& spots) {
  HtmlTable table("by the partition that owns the memory", {{"instructions", Kind::kNumber},
                                                            {"share", Kind::kNumber},
                                                            {"data accesses", Kind::kNumber},
                                                            {"share", Kind::kNumber},
                                                            {"partition", Kind::kText}});
  for (const auto& [owner, work] : spots.owners().rows()) {
    table.line({std::to_string(work.count), percent_text(work.count, spots.instructions()),
                std::to_string(work.data), percent_text(work.data, spots.data_accesses()),
                owner_name(owner)});
  }
  return table.take();
}

std::string processes_table(const HotSpots& spots) {
  HtmlTable table("by process", {{"instructions", Kind::kNumber},
                                 {"share", Kind::kNumber},
                                 {"data accesses", Kind::kNumber},
                                 {"share", Kind::kNumber},
                                 {"process", Kind::kText}});
  for (const auto& [name, work] : process_rows(spots)) {
    table.line({std::to_string(work.count), percent_text(work.count, spots.instructions()),
                std::to_string(work.data), percent_text(work.data, spots.data_accesses()), name});
  }
  return table.take();
}

void add_mix(HtmlPage& page, const HotSpots& spots) {
  std::string html =
      mix_table("instructions by privilege", "privilege", kPrivilegeNames, spots.instructions(),
                [&](size_t i) { return spots.of_privilege(static_cast<Privilege>(i)); });
  html += mix_table("instructions by kind", "kind", kInstructionClassNames, spots.instructions(),
                    [&](size_t i) { return spots.of_class(static_cast<InstructionClass>(i)); });
  if (spots.wants_processes()) html += processes_table(spots);
  if (spots.owners().known()) html += owners_table(spots);
  page.section("Mix", html);
  if (const std::string walks = walks_text(spots); !walks.empty()) {
    page.section("Page tables", fixed_text(walks.substr(walks.find_first_not_of('\n'))));
  }
}

void add_timelines(HtmlPage& page, const std::vector<TimelineReport::Trace>& timelines) {
  std::string html = "<p class=\"note\">" + timeline_legend() + "</p>\n";
  for (const TimelineReport::Trace& trace :
       std::span(timelines).first(std::min(kMostTimelines, timelines.size()))) {
    const Timeline& timeline = trace.timeline;
    html += fmt::format("<p class=\"c\">{}</p>\n", xml_text(trace.name));
    html += scrolled("timeline of " + trace.name, timeline_chart(timeline));
    html += fmt::format("<p class=\"note\">{} in windows of {}, {}{}</p>\n",
                        counted(timeline.windows().size(), "window"),
                        counted(timeline.window_instructions(), "instruction"),
                        counted(timeline.ticks(), "tick"),
                        timeline.ticks() == 0 ? ": the trace has no times" : "");
  }
  if (timelines.size() > kMostTimelines) {
    html += fmt::format("<p class=\"note\">{} more timelines are not shown</p>\n",
                        timelines.size() - kMostTimelines);
  }
  page.section("Timeline", html);
}

}  // namespace

void add_heat_map(HtmlPage& page, const HeatMapReport& heat) {
  const std::string title = fmt::format("Heat map of {} by {} address", heat.what, heat.kind);
  page.section("Heat map", "<div class=\"heat\">" + scrolled(title, heat.to_svg()) + "</div>\n");
}

std::string CorePage::to_html() const {
  HtmlPage page(head);
  page.basis(hot.basis());
  add_flame_graph(page, calls);
  add_code(page, hot);
  add_call_tree(page, calls, hot.top);
  for (size_t i = 0; i < hot.spots.data().size(); i++) add_data(page, hot, i);
  add_heat_map(page, heat);
  if (!timelines.empty()) add_timelines(page, timelines);
  add_mix(page, hot.spots);
  return page.take();
}

}  // namespace htmtrace

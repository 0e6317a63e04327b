// SPDX-License-Identifier: GPL-2.0-or-later
// The screen of `htmtrace dtl top` shows the entries of an interval in the requested order.
#include "cli/dtl/top.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace htmtrace {
namespace {

constexpr uint64_t kTopFrequency = 1'000'000;  // a tick is a microsecond
constexpr DtlClock kTopClock{.boot_timebase = 0, .ticks_per_second = kTopFrequency};

std::vector<DtlEntry> top_entries(size_t count, uint32_t wait, uint8_t preempt_reason,
                                  std::vector<uint16_t> processors) {
  std::vector<DtlEntry> all(count);
  for (size_t i = 0; i < count; i++) {
    all[i] = {.preempt_reason = preempt_reason,
              .processor_id = processors[i % processors.size()],
              .enqueue_to_dispatch = wait,
              .ready_to_enqueue = 2,
              .timebase = 1000 + i * 1000};
  }
  return all;
}

// Returns the CPUs of the lines, from top to bottom.
std::string order_of(DtlTopView view, DtlTopOrder order) {
  view.order = order;
  const std::string text = view.to_text();
  std::string found;
  size_t begin = text.find("full\n") + 5;
  for (size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    found += text.substr(begin, 5);
  }
  return found;
}

}  // namespace

TEST_CASE("an interval's entries make a line, and the next interval begins empty") {
  DtlTop::Track track;
  track.add(top_entries(100, 500, 4, {7, 7, 7, 9}), 3, kTopClock);
  DtlTotals totals;
  totals.saturated.count = 2;
  DtlTopView view{.clock = kTopClock, .now_ns = 5'000'000'000, .interval_ns = 500'000'000};
  view.lines.push_back(track.take(3, totals, false));
  CHECK(view.lines.front().home == 7);
  CHECK(view.lines.front().away == 25);
  CHECK(view.to_text() ==
        "5.000 s, 1 virtual processor, the last 0.500 s; times in us\n"
        "  CPU    disp/s    stolen   wait p50        p99         max  queue p99 preempt/s"
        "     moved      away   home   full\n"
        "    3       200   10.04 %    500.000    500.000     500.000      2.000       200"
        "   49.00 %   25.00 %      7      2\n"
        "  all       200   10.04 %    500.000    500.000     500.000      2.000       200"
        "   49.00 %   25.00 %             2\n");

  // The home is computed over the whole time, the log was not full again, and the event is off.
  track.add(top_entries(10, 1, 2, {9}), 3, kTopClock);
  const DtlTopLine next = track.take(3, totals, true);
  CHECK(next.analysis.entries() == 10);
  CHECK(next.home == 7);
  CHECK(next.away == 10);
  CHECK(next.full == 0);
  CHECK(next.incomplete);
  CHECK(track.take(3, totals, false).analysis.entries() == 0);
}

TEST_CASE("the first dispatch after a screen may also be a move") {
  DtlTop::Track track;
  track.add(top_entries(2, 500, 4, {7}), 3, kTopClock);
  CHECK(track.take(3, {}, false).analysis.moved() == 0);
  CHECK(track.take(3, {}, false).analysis.entries() == 0);
  track.add(top_entries(4, 500, 4, {9}), 3, kTopClock);
  CHECK(track.take(3, {}, false).analysis.moved() == 1);
  track.add(top_entries(4, 500, 4, {9}), 3, kTopClock);
  CHECK(track.take(3, {}, false).analysis.moved() == 0);
}

TEST_CASE("lines are sorted by the selected column") {
  DtlTopView view{.clock = kTopClock, .interval_ns = 1'000'000'000};
  const auto add = [&](int cpu, const std::vector<DtlEntry>& some) {
    DtlTop::Track track;
    track.add(some, cpu, kTopClock);
    view.lines.push_back(track.take(cpu, {}, false));
  };
  add(0, top_entries(90, 10, 4, {1}));    // the most dispatches
  add(1, top_entries(1, 600, 2, {1}));    // the longest wait
  add(12, top_entries(20, 100, 4, {1}));  // the most stolen time
  add(3, top_entries(30, 5, 4, {1, 2}));  // the most moves
  add(4, {});
  CHECK(order_of(view, DtlTopOrder::kStolen) == "   12    0    1    3    4  all");
  CHECK(order_of(view, DtlTopOrder::kLatency) == "    1   12    0    3    4  all");
  CHECK(order_of(view, DtlTopOrder::kDispatches) == "    0    3   12    1    4  all");
  CHECK(order_of(view, DtlTopOrder::kMoved) == "    3    0    1    4   12  all");
  CHECK(order_of(view, DtlTopOrder::kCpu) == "    0    1    3    4   12  all");
  view.most_lines = 2;
  CHECK(view.to_text().find("      and 3 more\n") != std::string::npos);
  CHECK(order_of(view, DtlTopOrder::kStolen) == "   12    0       all");
}

TEST_CASE("without a clock times are ticks, without shares of the time") {
  DtlTopView view{.interval_ns = 1'000'000'000};
  DtlTop::Track track;
  track.add(top_entries(5, 77, 4, {1}), 0, {});
  view.lines.push_back(track.take(0, {}, false));
  const std::string text = view.to_text();
  CHECK(text.find("times in ticks") != std::string::npos);
  CHECK(text.find("         -         77") != std::string::npos);
}

}  // namespace htmtrace

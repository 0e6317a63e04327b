// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/dtl/top.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <utility>

#include "output/io/moment.h"

namespace htmtrace {
namespace {

// Lines without a CPU: two above, two below, and the cursor's line.
constexpr size_t kOtherLines = 5;
// Moves the cursor to the first line and column, and erases from there (ECMA-48: CUP, ED).
constexpr const char* kRedraw = "\x1b[H\x1b[J";

size_t lines_of_terminal() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row <= kOtherLines) return SIZE_MAX;
  return size.ws_row - kOtherLines;
}

}  // namespace

void DtlTop::Track::add(std::span<const DtlEntry> entries, int cpu, const DtlClock& clock) {
  analysis_.add(entries, cpu, clock.ticks_per_second, places_);
}

DtlTopLine DtlTop::Track::take(int cpu, const DtlTotals& totals, bool ended) {
  DtlTopLine line{.cpu = cpu, .analysis = std::exchange(analysis_, analysis_.next())};
  const auto here = places_.processors.top(places_.processors.size());
  for (const auto& slot : here) processors_.at(slot.key).count += slot.entry.count;
  // The key also contains the CPU.
  const auto top = processors_.top(1);
  if (!top.empty()) {
    line.home = static_cast<uint16_t>(top.front().key);
    line.away = line.analysis.entries();
    for (const auto& slot : here) {
      if (slot.key == top.front().key) line.away -= std::min(line.away, slot.entry.count);
    }
  }
  places_ = DtlPlaces(kProcessors);
  line.full = totals.saturated.count - before_.saturated.count;
  line.incomplete = ended || totals.flagged.count != before_.flagged.count ||
                    totals.passes.count != before_.passes.count ||
                    totals.overruns.count != before_.overruns.count ||
                    totals.void_slots.count != before_.void_slots.count;
  before_ = totals;
  return line;
}

DtlTop::DtlTop(const DtlTopOptions& options)
    : options_(options), terminal_(::isatty(STDOUT_FILENO) == 1) {}

std::chrono::nanoseconds DtlTop::left() const {
  return begin_ + options_.interval - Clock::now();
}

std::string DtlTop::screen(const DtlClock& clock, std::vector<DtlTopLine> lines) {
  const auto now_at = Clock::now();
  DtlTopView view{.clock = clock,
                  .now_ns = static_cast<uint64_t>(now().monotonic_ns),
                  .interval_ns = static_cast<uint64_t>((now_at - begin_).count()),
                  .order = options_.order,
                  .most_lines = terminal_ ? lines_of_terminal() : SIZE_MAX,
                  .lines = std::move(lines)};
  begin_ = now_at;
  shown_++;
  return (terminal_ ? kRedraw : "") + view.to_text() + (terminal_ ? "" : "\n");
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/replay/stop_points.h"

#include <algorithm>

#include "core/core_trace/access_shape.h"

namespace htmtrace {
namespace {

bool is_breakpoint(StopType type) {
  return type == StopType::kSoftware || type == StopType::kHardware;
}

}  // namespace

bool StopPoints::add(const Point& point) {
  std::vector<Point>& points = is_breakpoint(point.type) ? breakpoints_ : watchpoints_;
  if (std::ranges::find(points, point) != points.end()) return true;
  if (breakpoints_.size() + watchpoints_.size() >= kMostPoints) return false;
  points.push_back(point);
  if (is_breakpoint(point.type)) may_break_.at(row_of(point.address)) = true;
  return true;
}

void StopPoints::remove(const Point& point) {
  std::erase(is_breakpoint(point.type) ? breakpoints_ : watchpoints_, point);
  if (!is_breakpoint(point.type)) return;
  may_break_.at(row_of(point.address)) = std::ranges::any_of(
      breakpoints_, [&](const Point& p) { return row_of(p.address) == row_of(point.address); });
}

std::optional<StopType> StopPoints::find_breakpoint(uint64_t ea) const {
  const auto found =
      std::ranges::find_if(breakpoints_, [ea](const Point& p) { return p.address == ea; });
  if (found == breakpoints_.end()) return std::nullopt;
  return found->type;
}

bool StopPoints::matches(StopType type, bool reads, bool writes) const {
  switch (type) {
    case StopType::kWrite:
      return writes;
    case StopType::kRead:
      return reads;
    default:
      return filter_ == Filter::kAll || (filter_ == Filter::kReads ? reads : writes);
  }
}

std::optional<StopPoints::Hit> StopPoints::find_watchpoint(const Instruction& instruction) const {
  const AccessShape shape = instruction.has_opcode ? access_shape(instruction) : AccessShape{};
  for (const Point& point : watchpoints_) {
    if (!matches(point.type, shape.reads, shape.writes)) continue;
    for (unsigned i = 0; i < instruction.data_count; i++) {
      uint64_t touched = 0;
      if (touches(instruction, i, shape, point.address, point.bytes, touched)) {
        return Hit{.type = point.type, .address = touched};
      }
    }
  }
  return std::nullopt;
}

}  // namespace htmtrace

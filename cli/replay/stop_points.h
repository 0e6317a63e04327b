// SPDX-License-Identifier: GPL-2.0-or-later
// The breakpoints and watchpoints of gdb. They match effective addresses in all threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/core_trace/events.h"

namespace htmtrace {

// The types of the packets Z and z, with the numbers of the protocol.
enum class StopType : uint8_t { kSoftware = 0, kHardware = 1, kWrite = 2, kRead = 3, kAccess = 4 };
inline constexpr unsigned kStopTypes = 5;

class StopPoints {
 public:
  // More points would make each step slow.
  static constexpr size_t kMostPoints = 1024;

  struct Point {
    StopType type = StopType::kSoftware;
    uint64_t address = 0;
    uint64_t bytes = 0;  // of a watchpoint; at least 1
    bool operator==(const Point&) const = default;
  };
  struct Hit {
    StopType type = StopType::kAccess;
    uint64_t address = 0;  // the lowest watched byte that the access touches
  };
  // The accesses that watchpoints of type kAccess report.
  enum class Filter : uint8_t { kAll, kReads, kWrites };

  // add() has no effect if the point exists. It returns false if kMostPoints points exist. remove()
  // has no effect if the point does not exist.
  bool add(const Point& point);
  void remove(const Point& point);

  size_t watchpoints() const { return watchpoints_.size(); }

  void set_filter(Filter filter) { filter_ = filter; }

  // The type of a breakpoint at this instruction address.
  std::optional<StopType> breakpoint_at(uint64_t ea) const {
    if (!may_break_[row_of(ea)]) [[likely]]
      return std::nullopt;
    return find_breakpoint(ea);
  }

  // The first watchpoint that a data access of the instruction triggers. An access that neither
  // reads nor writes triggers watchpoints of type kAccess with Filter::kAll.
  std::optional<Hit> watchpoint_of(const Instruction& instruction) const {
    if (watchpoints_.empty() || instruction.data_count == 0) [[likely]]
      return std::nullopt;
    return find_watchpoint(instruction);
  }

 private:
  static constexpr size_t kRows = 4096;
  static size_t row_of(uint64_t ea) { return ea / 4 % kRows; }

  std::optional<StopType> find_breakpoint(uint64_t ea) const;
  std::optional<Hit> find_watchpoint(const Instruction& instruction) const;
  bool matches(StopType type, bool reads, bool writes) const;

  std::vector<Point> breakpoints_;
  std::vector<Point> watchpoints_;
  std::array<bool, kRows> may_break_{};  // a breakpoint has this row
  Filter filter_ = Filter::kAll;
};

}  // namespace htmtrace

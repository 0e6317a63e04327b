// SPDX-License-Identifier: GPL-2.0-or-later
// A position in a trace that moves forward and backward. The instruction at the position has not
// executed yet. A position is always an instruction whose address is known; instructions without an
// address belong to the step of the instruction that precedes them.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <optional>

#include "cli/replay/code_words.h"
#include "cli/replay/registers.h"
#include "cli/replay/stop_points.h"
#include "cli/replay/track.h"

namespace htmtrace {

class Player {
 public:
  enum class Reason : uint8_t {
    kStepped,
    kBreakpoint,
    kWatchpoint,
    kBegin,  // no earlier position exists
    kEnd,    // no later position exists
    kInterrupted,
  };
  struct Stop {
    Reason reason = Reason::kStepped;
    StopPoints::Hit hit;  // of a kBreakpoint or kWatchpoint
  };
  struct Motion {
    bool backward = false;
    bool single = false;  // stop at the next position
  };

  // Throws Error.
  Player(const ChosenTrace& trace, std::endian order);

  // False: no instruction has an address, and no other function may be called.
  bool has_position() const { return has_position_; }

  // Moves until a reason to stop. A watchpoint stops at a position next to the access: forward, the
  // access follows; backward, the access precedes. gdb expects this of a POWER processor, and makes
  // one more step. Calls interrupted() every 65536 positions, or more often if
  // there are watchpoints. Throws Error.
  Stop move(const Motion& motion, const StopPoints& points,
            const std::function<bool()>& interrupted);

  // Moves to this instruction, or to the next instruction with an address. Returns false, and does
  // not move, if no such instruction follows. Throws Error.
  bool go_to(uint64_t number);
  // Moves to the first instruction after the first mark with this value, as go_to() does. Also
  // returns false if the trace has no such mark.
  bool go_to_mark(unsigned value);

  uint64_t number() const { return number_; }
  Instruction instruction() { return track_.at(number_)->instruction; }
  Registers registers();
  // The byte of the code at an effective address, if the visited windows prove it.
  std::optional<uint8_t> code_at(uint64_t address);
  Track& track() { return track_; }

 private:
  std::optional<uint64_t> next_position(uint64_t number);
  std::optional<uint64_t> previous_position(uint64_t number);
  std::optional<StopPoints::Hit> watchpoint_between(uint64_t first, uint64_t end,
                                                    const StopPoints& points);

  Track track_;
  bool has_position_ = false;
  uint64_t first_ = 0;  // the first position
  uint64_t number_ = 0;
};

}  // namespace htmtrace

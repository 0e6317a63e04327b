// SPDX-License-Identifier: GPL-2.0-or-later
// An event that pauses or resumes a trace, in the user's syntax:
//
//   SYSTEM:NAME                        tracepoint
//   FILE:SYMBOL[+OFFSET][%return]      uprobe; FILE has a slash; FILE:0xOFFSET is a file offset
//   kprobe:FUNCTION[+OFFSET][%return]  kprobe
//   mem:ADDRESS[/LENGTH][:rwx]         breakpoint
//   context-switches, page-faults ...  software event
//
// The kernel allows only these events in the group of an uncore event such as htm's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "pmu/event_attr.h"

namespace htmtrace {

// The parsed text, before any lookup.
struct TriggerWords {
  enum class Kind : uint8_t { kTracepoint, kUprobe, kKprobe, kBreakpoint, kSoftware };

  Kind kind = Kind::kSoftware;
  std::string text;        // the whole text
  std::string place;       // system of a tracepoint, or file of a uprobe
  std::string name;        // tracepoint, symbol, function; empty: only an offset in the file
  uint64_t number = 0;     // address of a breakpoint, number of a software event
  uint64_t offset = 0;     // after the symbol, or in the file
  bool at_return = false;  // at the function's return
  uint32_t access = 0;     // access of a breakpoint: HW_BREAKPOINT_*
  uint64_t length = 0;     // length of a breakpoint
};

// Throws Error unless the text matches one of the forms above.
TriggerWords parse_trigger(const std::string& text);

// The event, ready to open as a member of a group.
class Trigger {
 public:
  // Folders in which the kernel lists its events.
  struct Roots {
    std::filesystem::path pmus;
    std::vector<std::filesystem::path> tracefs;
  };
  static Roots usual_roots();

  // Looks up the named event. Throws Error if the event does not exist.
  Trigger(const TriggerWords& words, const Roots& roots);

  const std::string& text() const { return text_; }

  // Each occurrence counts: sample_period is 1. The attr points into this object.
  EventAttr attr() const;

 private:
  void find_tracepoint(const TriggerWords& words, const Roots& roots);
  void find_probe(const TriggerWords& words, const Roots& roots, const char* pmu);

  std::string text_;
  EventAttr attr_;
  std::string pointed_;  // target of config1, if any: a file or a kernel function
};

}  // namespace htmtrace

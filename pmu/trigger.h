// SPDX-License-Identifier: GPL-2.0-or-later
// An event that pauses or resumes a trace when it happens, as people name it:
//
//   SYSTEM:NAME                        tracepoint
//   FILE:SYMBOL[+OFFSET][%return]      uprobe; FILE has a slash; FILE:0xOFFSET is an offset in it
//   kprobe:FUNCTION[+OFFSET][%return]  kprobe
//   mem:ADDRESS[/LENGTH][:rwx]         breakpoint
//   context-switches, page-faults ...  software event
//
// These are the events that the kernel lets into the group of an uncore event such as htm's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "pmu/event_attr.h"

namespace htmtrace {

// What was said, with nothing looked up.
struct TriggerWords {
  enum class Kind : uint8_t { kTracepoint, kUprobe, kKprobe, kBreakpoint, kSoftware };

  Kind kind = Kind::kSoftware;
  std::string text;        // all of it
  std::string place;       // system of a tracepoint, file of a uprobe
  std::string name;        // tracepoint, symbol, function; empty: only an offset in the file
  uint64_t number = 0;     // address of a breakpoint, number of a software event
  uint64_t offset = 0;     // behind the symbol, or in the file
  bool at_return = false;  // when the function returns
  uint32_t access = 0;     // of a breakpoint: HW_BREAKPOINT_*
  uint64_t length = 0;     // of a breakpoint
};

// Throws Error when it is none of the above.
TriggerWords parse_trigger(const std::string& text);

// The event, ready to be opened as a member of a group.
class Trigger {
 public:
  // Where the kernel tells of its events.
  struct Roots {
    std::filesystem::path pmus;
    std::vector<std::filesystem::path> tracefs;
  };
  static Roots usual_roots();

  // Looks up what has a name. Throws Error when there is no such thing.
  Trigger(const TriggerWords& words, const Roots& roots);

  const std::string& text() const { return text_; }

  // With sample_period 1: each time it happens counts. Points into this object.
  EventAttr attr() const;

 private:
  void find_tracepoint(const TriggerWords& words, const Roots& roots);
  void find_probe(const TriggerWords& words, const Roots& roots, const char* pmu);

  std::string text_;
  EventAttr attr_;
  std::string pointed_;  // what config1 points to, if anything: a file or a kernel function
};

}  // namespace htmtrace

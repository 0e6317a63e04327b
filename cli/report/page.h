// SPDX-License-Identifier: GPL-2.0-or-later
// htmtrace report --html.
#pragma once

#include <vector>

#include "cli/report/options.h"
#include "cli/traces/choice.h"
#include "core/analysis/heat_maps.h"
#include "core/analysis/hot_spots.h"
#include "core/analysis/timeline.h"
#include "core/call_stacks/call_stacks.h"
#include "core/core_trace/sink.h"
#include "output/page/html_page.h"

namespace htmtrace {

// Names the traces, and states what they lack.
PageHead page_head(const std::vector<ChosenTrace>& traces, const ReportOptions& options);

// Passes one trace to all analyses of a page, so that the trace is read once: it may be standard
// input.
class PageSink {
 public:
  static constexpr Lead kLead = CallStacks::kLead;

  PageSink(HotSpots& spots, CallStacks& stacks, DataHeat& heat, Timeline& timeline)
      : spots_(spots), stacks_(stacks), heat_(heat), timeline_(timeline) {}

  void begin_trace(const MemoryOwners& owners) {
    spots_.begin_trace(owners);
    stacks_.begin_trace();
  }
  void process(const Process& process) { spots_.process(process); }
  bool wants_processes() const { return spots_.wants_processes(); }
  bool wants_walks() const { return spots_.wants_walks(); }
  void walk(const Walk& walk) { spots_.walk(walk); }
  void unselected(const Walk& walk) { spots_.unselected(walk); }

  void at(const TracePlace& place) {
    heat_.at(place);
    timeline_.at(place);
  }
  void instruction(const Instruction& instruction) {
    spots_.instruction(instruction);
    stacks_.instruction(instruction);
    heat_.instruction(instruction);
    timeline_.instruction(instruction);
  }
  void stamp(const Stamp& stamp) {
    stacks_.stamp(stamp);
    timeline_.stamp(stamp);
  }
  void defect(const Defect& defect) { stacks_.defect(defect); }
  void unselected(const Instruction& instruction) { stacks_.unselected(instruction); }
  void unselected(const Stamp& stamp) { stacks_.unselected(stamp); }

 private:
  HotSpots& spots_;
  CallStacks& stacks_;
  DataHeat& heat_;
  Timeline& timeline_;
};

}  // namespace htmtrace

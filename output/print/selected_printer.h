// SPDX-License-Identifier: GPL-2.0-or-later
// Lets ParallelDecode print the selected events.
#pragma once

#include <cstdint>

#include "core/analysis/name_selection.h"
#include "core/core_trace/events.h"
#include "core/core_trace/sink.h"
#include "core/selection/selection.h"
#include "output/io/text_output.h"
#include "output/print/selecting_sink.h"

namespace htmtrace {

// A FollowsPrinter (output/print/parallel_decode.h), so that each part adds its number of selected
// instructions to the number of the earlier parts.
template <CoreSink Printer>
class SelectedPrinter {
 public:
  // `make_printer` turns a TextOutput& into a Printer. All other arguments must outlive this
  // object. The selection must be local(). `names` is required for a selection by name.
  template <class MakePrinter>
  SelectedPrinter(const MakePrinter& make_printer, TextOutput& output, const Selection& selection,
                  const NameSelection* names)
      : printer_(make_printer(output)), selecting_(selection, printer_, names) {}
  SelectedPrinter(const SelectedPrinter&) = delete;
  SelectedPrinter& operator=(const SelectedPrinter&) = delete;

  [[gnu::always_inline]] void instruction(const Instruction& instruction) {
    selecting_.instruction(instruction);
  }
  void stamp(const Stamp& stamp) { selecting_.stamp(stamp); }
  void defect(const Defect& defect) { selecting_.defect(defect); }

  void start_inside() {}
  bool can_follow() const { return true; }
  void follow(const SelectedPrinter& earlier) { earlier_ = earlier.selected(); }
  void finish() { selecting_.finish(); }

  // The number of selected instructions up to the end of this part.
  uint64_t selected() const { return earlier_ + selecting_.selected(); }

 private:
  Printer printer_;
  SelectingSink<Printer> selecting_;
  uint64_t earlier_ = 0;
};

}  // namespace htmtrace

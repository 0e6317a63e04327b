// SPDX-License-Identifier: GPL-2.0-or-later
// Lets ParallelDecode print the selected events.
#pragma once

#include <cstdint>

#include "core/analysis/name_selection.h"
#include "core/core_trace/events.h"
#include "core/core_trace/sink.h"
#include "output/io/text_output.h"
#include "output/print/open_parts.h"
#include "output/print/selecting_sink.h"

namespace htmtrace {

// Prints nothing: a summary needs only the number of selected instructions, which the selecting
// sink counts.
struct NoPrinter {
  void instruction(const Instruction&) {}
  void stamp(const Stamp&) {}
  void defect(const Defect&) {}
};

// A FollowsPrinter and a DeliversPrinter (output/print/part_printer.h).
template <CoreSink Printer>
class SelectedPrinter {
 public:
  // `make_printer` turns a TextOutput& into a Printer. All other arguments must outlive this
  // object. `names` is required for a selection by name.
  template <class MakePrinter>
  SelectedPrinter(const MakePrinter& make_printer, TextOutput& output, OpenParts& parts,
                  const NameSelection* names)
      : printer_(make_printer(output)),
        parts_(parts),
        selecting_(parts.selection(), printer_, names) {
    selecting_.begin_at(parts.begin());
  }
  SelectedPrinter(const SelectedPrinter&) = delete;
  SelectedPrinter& operator=(const SelectedPrinter&) = delete;

  [[gnu::always_inline]] void instruction(const Instruction& instruction) {
    selecting_.instruction(instruction);
  }
  void stamp(const Stamp& stamp) { selecting_.stamp(stamp); }
  void defect(const Defect& defect) { selecting_.defect(defect); }
  bool satisfied() const { return selecting_.satisfied(); }

  void start_inside() { selecting_.start_inside(parts_.open()); }
  bool can_follow(const SelectedPrinter& earlier) const {
    return selecting_.can_follow(earlier.selecting_);
  }
  void follow(const SelectedPrinter& earlier) { selecting_.follow(earlier.selecting_); }
  void deliver() { parts_.set_open(selecting_.is_open()); }
  void finish() { selecting_.finish(); }

  // The number of selected instructions up to the end of this part.
  uint64_t selected() const { return selecting_.selected(); }

 private:
  Printer printer_;
  OpenParts& parts_;
  SelectingSink<Printer> selecting_;
};

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
// Between a decoder and a printer: passes on what is selected.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/core_events.h"
#include "core/radix_walk.h"
#include "core/selection.h"

namespace htmtrace {

// A `Next` with unselected() also gets the unselected instructions and stamps. A `Next` with
// skipped() learns where instructions are omitted. A `Next` with at() learns the position of each
// instruction that it gets, except when only the last instructions are selected.
template <class Next>
class SelectingSink {
 public:
  // Both must outlive it.
  SelectingSink(const Selection& selection, Next& next)
      : selection_(selection), selector_(selection), next_(next) {}

  void begin_at(const TracePlace& place) { selector_.begin_at(place); }

  void instruction(const Instruction& instruction) {
    if constexpr (requires { next_.at(selector_.place()); }) next_.at(selector_.place());
    const bool wanted = selector_.take(instruction);
    if (!walks_.empty()) [[unlikely]] {
      pass_walks(wanted);
    }
    if (!wanted) {
      if constexpr (requires { next_.unselected(instruction); }) {
        next_.unselected(instruction);
      } else if constexpr (requires { next_.skipped(); }) {
        next_.skipped();
      }
      return;
    }
    if (selection_.last == Selection::kAny) {
      next_.instruction(instruction);
    } else {
      keep(instruction);
    }
  }

  void stamp(const Stamp& stamp) {
    if (selector_.take(stamp)) {
      next_.stamp(stamp);
    } else if constexpr (requires { next_.unselected(stamp); }) {
      next_.unselected(stamp);
    }
  }

  // Walks go with the instruction that follows them. When only the last ones are wanted, which
  // those are is not known yet, and none is passed on.
  void walk(const Walk& walk) { walks_.push_back(walk); }

  void defect(const Defect& defect) { next_.defect(defect); }

  uint64_t selected() const { return selector_.taken(); }

  bool satisfied() const { return selector_.satisfied(); }

  // The trace has ended: passes on what was kept back, and the place of the end.
  void finish() {
    pass_walks(selection_.everything());  // of an instruction that did not come
    if constexpr (requires { next_.at(selector_.place()); }) next_.at(selector_.place());
    for (size_t i = 0; i < kept_.size(); i++) {
      next_.instruction(kept_[(oldest_ + i) % kept_.size()]);
    }
    kept_.clear();
  }

 private:
  void pass_walks(bool wanted) {
    if constexpr (requires(const Walk& walk) { next_.walk(walk); }) {
      wanted = wanted && selection_.last == Selection::kAny;
      for (const Walk& walk : walks_) {
        if (wanted) next_.walk(walk);
      }
    }
    walks_.clear();
  }

  void keep(const Instruction& instruction) {
    if (kept_.size() < selection_.last) {
      kept_.push_back(instruction);
    } else if (!kept_.empty()) {
      kept_[oldest_] = instruction;
      oldest_ = (oldest_ + 1) % kept_.size();
    }
  }

  const Selection& selection_;
  Selector selector_;
  Next& next_;
  std::vector<Walk> walks_;
  std::vector<Instruction> kept_;  // a ring of the last ones, when only those are wanted
  size_t oldest_ = 0;
};

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
// Lets ParallelDecode count the parts of a trace for a sink with parts (core/core_trace/sink.h).
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/analysis/name_selection.h"
#include "core/core_trace/events.h"
#include "core/core_trace/radix_walk.h"
#include "core/core_trace/sink.h"
#include "output/print/open_parts.h"
#include "output/print/selecting_sink.h"

namespace htmtrace {

// Keeps the empty parts of a sink, so that the next parts use their memory again.
template <HasParts Next>
class PartPool {
 public:
  using Part = typename Next::Part;

  // `next` must outlive this object.
  explicit PartPool(Next& next) : next_(next) {}

  std::unique_ptr<Part> part() {
    {
      const std::lock_guard lock(mutex_);
      if (!spare_.empty()) {
        std::unique_ptr<Part> part = std::move(spare_.back());
        spare_.pop_back();
        return part;
      }
    }
    return std::unique_ptr<Part>(new Part(next_.new_part()));
  }
  void give_back(std::unique_ptr<Part> part) {
    part->clear();
    const std::lock_guard lock(mutex_);
    spare_.push_back(std::move(part));
  }

  bool wants_walks() const { return htmtrace::wants_walks(next_); }

  // Only one thread may call these functions. Positions in the part count from `base`.
  void take(Part& part, const TracePlace& base = {}) {
    if constexpr (HasPlacedParts<Next>) {
      next_.take(part, base);
    } else {
      next_.take(part);
    }
  }
  void set_selected(uint64_t selected) { selected_ = selected; }
  uint64_t selected() const { return selected_; }

 private:
  Next& next_;
  uint64_t selected_ = 0;  // instructions
  std::mutex mutex_;
  std::vector<std::unique_ptr<Part>> spare_;
};

// Gives a sink with the part `part_` the class Rows of the part, if the part has one.
template <class Sink, class Part>
class PartRows {};
template <class Sink, HasRows Part>
class PartRows<Sink, Part> {
 public:
  class Rows : public Part::Rows {
   public:
    explicit Rows(PartRows& sink) : Part::Rows(*static_cast<Sink&>(sink).part_) {}
  };
  bool in_rows() const { return static_cast<const Sink&>(*this).part_->in_rows(); }
};

// The following sinks for CoreDecoder are printers of a ParallelDecode. Their arguments must
// outlive them.

// Counts all instructions.
template <HasParts Next>
class PartSink : public PartRows<PartSink<Next>, typename Next::Part> {
 public:
  explicit PartSink(PartPool<Next>& pool) : pool_(pool), part_(pool.part()) {}
  ~PartSink() { pool_.give_back(std::move(part_)); }
  PartSink(const PartSink&) = delete;
  PartSink& operator=(const PartSink&) = delete;

  [[gnu::always_inline]] void instruction(const Instruction& instruction) {
    part_->instruction(instruction);
  }
  void stamp(const Stamp& stamp) { part_->stamp(stamp); }
  void walk(const Walk& walk) {
    if constexpr (HasWalk<typename Next::Part>) part_->walk(walk);
  }
  void defect(const Defect& defect) { part_->defect(defect); }
  bool wants_walks() const { return pool_.wants_walks(); }

  // Passes the counts on. ParallelDecode calls this in the order of the trace.
  void deliver() { pool_.take(*part_); }

 private:
  friend class PartRows<PartSink, typename Next::Part>;

  PartPool<Next>& pool_;
  std::unique_ptr<typename Next::Part> part_;
};

// Counts the selected instructions. A FollowsPrinter and a DeliversPrinter
// (output/print/part_printer.h).
template <HasParts Next>
class SelectedPartSink {
 public:
  // `names` is required for a selection by name.
  SelectedPartSink(PartPool<Next>& pool, OpenParts& parts, const NameSelection* names)
      : pool_(pool),
        parts_(parts),
        part_(pool.part()),
        selecting_(parts.selection(), *part_, names) {
    selecting_.begin_at(parts.begin());
  }
  ~SelectedPartSink() { pool_.give_back(std::move(part_)); }
  SelectedPartSink(const SelectedPartSink&) = delete;
  SelectedPartSink& operator=(const SelectedPartSink&) = delete;

  [[gnu::always_inline]] void instruction(const Instruction& instruction) {
    selecting_.instruction(instruction);
  }
  void stamp(const Stamp& stamp) { selecting_.stamp(stamp); }
  void walk(const Walk& walk) { selecting_.walk(walk); }
  void defect(const Defect& defect) { selecting_.defect(defect); }
  bool wants_walks() const { return pool_.wants_walks(); }
  bool satisfied() const { return selecting_.satisfied(); }

  void start_inside() { selecting_.start_inside(parts_.open()); }
  bool can_follow(const SelectedPartSink& earlier) const {
    return selecting_.can_follow(earlier.selecting_);
  }
  void follow(const SelectedPartSink& earlier) {
    base_ = earlier.selecting_.place();
    end_part();
    selecting_.follow(earlier.selecting_);
  }
  void finish() {}

  void deliver() {
    end_part();
    ended_ = false;
    parts_.set_open(selecting_.is_open());
    pool_.set_selected(selecting_.selected());
    pool_.take(*part_, base_);
    base_ = {};
  }

 private:
  void end_part() {
    if (!ended_) selecting_.finish();
    ended_ = true;
  }

  PartPool<Next>& pool_;
  OpenParts& parts_;
  std::unique_ptr<typename Next::Part> part_;
  SelectingSink<typename Next::Part> selecting_;
  TracePlace base_;     // positions in part_ count from here
  bool ended_ = false;  // part_ has received all events of the part
};

}  // namespace htmtrace

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
#include "core/selection/selection.h"
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

  // Only one thread may call these functions.
  void take(Part& part) { next_.take(part); }
  void add_selected(uint64_t selected) { selected_ += selected; }
  uint64_t selected() const { return selected_; }

 private:
  Next& next_;
  uint64_t selected_ = 0;  // instructions
  std::mutex mutex_;
  std::vector<std::unique_ptr<Part>> spare_;
};

// The following sinks for CoreDecoder are printers of a ParallelDecode. Their arguments must
// outlive them.

// Counts all instructions.
template <HasParts Next>
class PartSink {
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
  PartPool<Next>& pool_;
  std::unique_ptr<typename Next::Part> part_;
};

// Counts the selected instructions.
template <HasParts Next>
class SelectedPartSink {
 public:
  // The selection must be local(). `names` is required for a selection by name.
  SelectedPartSink(PartPool<Next>& pool, const Selection& selection, const NameSelection* names)
      : pool_(pool), part_(pool.part()), selecting_(selection, *part_, names) {}
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

  void deliver() {
    selecting_.finish();
    const uint64_t selected = selecting_.selected();
    pool_.add_selected(selected - std::exchange(delivered_, selected));
    pool_.take(*part_);
  }

 private:
  PartPool<Next>& pool_;
  std::unique_ptr<typename Next::Part> part_;
  SelectingSink<typename Next::Part> selecting_;
  uint64_t delivered_ = 0;  // selected instructions that deliver() has passed on
};

}  // namespace htmtrace

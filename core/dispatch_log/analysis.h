// SPDX-License-Identifier: GPL-2.0-or-later
// Analyzes the dispatch trace log of a virtual processor: its waiting times for a physical
// processor, its dispatch reasons, and its physical processors.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "core/base/hot_table.h"
#include "core/dispatch_log/columns.h"
#include "core/dispatch_log/entry.h"
#include "core/dispatch_log/processor_bits.h"
#include "core/dispatch_log/stolen_intervals.h"
#include "core/dispatch_log/tick_histogram.h"

namespace htmtrace {

// Entries by reason code.
struct DtlReasons {
  std::array<uint64_t, 256> dispatch{};
  std::array<uint64_t, 256> preempt{};

  void add(const DtlReasons& other);
};

// The physical processors, fault pages and stop addresses of one or more virtual processors. This
// part of an analysis needs most of the memory.
class DtlPlaces {
 public:
  struct Count {
    uint64_t count = 0;
  };
  using Table = HotTable<Count>;

  // Dispatches on a different processor than the previous dispatch, by distance. These counts are
  // complete.
  struct Distances {
    uint64_t same_chip = 0, same_node = 0, elsewhere = 0;

    // The processors must differ.
    void count(const ProcessorBits& bits, uint16_t from, uint16_t to, uint64_t times) {
      if (bits.same_chip(from, to)) {
        same_chip += times;
      } else if (bits.same_node(from, to)) {
        same_node += times;
      } else {
        elsewhere += times;
      }
    }
  };

  // `bits` describe the numbering of chips and nodes. Without `bits`, all distances are 0.
  explicit DtlPlaces(std::optional<ProcessorBits> bits = std::nullopt)
      : DtlPlaces(kUsualKeys, kMostProcessors) {
    bits_ = bits;
  }
  explicit DtlPlaces(size_t most_keys) : DtlPlaces(most_keys, most_keys) {}

  void add(const DtlPlaces& other);
  void move(uint16_t from, uint16_t to, uint64_t times) {
    moves.at(uint64_t{from} << 16 | to).count += times;
    if (bits_ && from != to) distances_.count(*bits_, from, to, times);
  }
  const Distances& distances() const { return distances_; }

  Table moves;         // keyed by previous processor << 16 | next processor
  Table processors;    // keyed by CPU << 16 | processor
  Table fault_pages;   // keyed by fault address / 4096
  Table instructions;  // keyed by srr0

 private:
  DtlPlaces(size_t most_keys, size_t most_processors)
      : moves(most_keys),
        processors(most_processors),
        fault_pages(most_keys),
        instructions(most_keys) {}

  static constexpr size_t kUsualKeys = 4096;
  // The home of a virtual processor must be exact. The table has room for a thousand virtual
  // processors on 256 processors each, in at most 10 MiB.
  static constexpr size_t kMostProcessors = size_t{1} << 18;

  std::optional<ProcessorBits> bits_;
  Distances distances_;
};

// The analysis of one virtual processor, or the sum of several.
class DtlAnalysis {
 public:
  using Interval = StolenIntervals::Interval;  // in ticks of the timebase
  static constexpr unsigned kIntervalsPerSecond = 10;
  // PowerVM gives each virtual processor its share once in each dispatch window of 10 ms.
  static constexpr unsigned kWindowsPerSecond = 100;

  // Adds entries of one virtual processor in time order.
  void add(const DtlColumns& block, int cpu, uint64_t ticks_per_second, DtlPlaces& places);
  void add(std::span<const DtlEntry> entries, int cpu, uint64_t ticks_per_second,
           DtlPlaces& places);

  // Adds the analysis of another virtual processor. The sum has no worst interval.
  void add(const DtlAnalysis& other);

  // Appends the later analysis of the same virtual processor; `places` belong to both parts.
  void append(const DtlAnalysis& later, DtlPlaces& places);

  // An empty analysis for the following entries of the same virtual processor. The analysis
  // remembers the last processor, so that a move with its first entry counts.
  DtlAnalysis next() const {
    DtlAnalysis next;
    next.processor_ = processor_;
    return next;
  }

  const TickHistogram& enqueue_to_dispatch() const { return enqueue_to_dispatch_; }
  const TickHistogram& ready_to_enqueue() const { return ready_to_enqueue_; }
  const TickHistogram& waiting_to_ready() const { return waiting_to_ready_; }
  const DtlReasons& reasons() const { return reasons_; }

  uint64_t entries() const { return enqueue_to_dispatch_.count(); }
  // Ticks during which the virtual processor was ready but did not run. Linux reports the same time
  // as stolen time (scan_dispatch_log of arch/powerpc/platforms/pseries/lpar.c).
  uint64_t stolen() const { return enqueue_to_dispatch_.sum() + ready_to_enqueue_.sum(); }
  // Ticks from the first entry to the last entry; for several virtual processors, the sum.
  uint64_t span() const { return span_ + (last_ - first_); }
  // Timebases of the first and the last entry.
  uint64_t first() const { return first_; }
  uint64_t last() const { return last_; }
  // Physical processors of the first and the last entry. Empty without entries.
  std::optional<uint16_t> first_processor() const { return first_processor_; }
  std::optional<uint16_t> last_processor() const { return processor_; }
  // The interval of a tenth of a second with the most stolen time.
  Interval worst() const { return intervals_.most(); }
  // Dispatches that waited longer than a dispatch window.
  uint64_t late() const { return late_; }
  uint64_t moved() const { return moved_; }

 private:
  friend class DtlStatistics;

  void add_counts(const DtlAnalysis& other);
  void move(uint16_t to, DtlPlaces& places);
  void count_waits_and_reasons(const DtlColumns& block);
  uint64_t count_stolen(const DtlColumns& block, uint64_t ticks_per_second);
  static void count_fault_pages(const DtlColumns& block, DtlPlaces& places);
  bool count_at_once(const DtlColumns& block, int cpu, DtlPlaces& places);
  void count_in_order(const DtlColumns& block, int cpu, DtlPlaces& places);

  TickHistogram enqueue_to_dispatch_, ready_to_enqueue_, waiting_to_ready_;
  DtlReasons reasons_;
  StolenIntervals intervals_;
  uint64_t first_ = 0, last_ = 0, span_ = 0;
  uint64_t late_ = 0, moved_ = 0;
  std::optional<uint16_t> first_processor_, processor_;
};

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
// What the dispatch trace log says about a virtual processor: how long it waited for a physical
// one, why it was dispatched, where it ran.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "core/dtl_entry.h"
#include "core/hot_table.h"
#include "core/processor_bits.h"
#include "core/stolen_intervals.h"
#include "core/tick_histogram.h"

namespace htmtrace {

// Entries by reason code.
struct DtlReasons {
  std::array<uint64_t, 256> dispatch{};
  std::array<uint64_t, 256> preempt{};

  void add(const DtlReasons& other);
};

// Where the virtual processors ran, what they missed, and where they were stopped. Of several of
// them: it is the larger part.
class DtlPlaces {
 public:
  struct Count {
    uint64_t count = 0;
  };
  using Table = HotTable<Count>;

  // Dispatches on another processor than the one before, by how far that is. All of them.
  struct Distances {
    uint64_t same_chip = 0, same_node = 0, elsewhere = 0;
  };

  // `bits`: where chips and nodes are; without them there are no distances.
  explicit DtlPlaces(std::optional<ProcessorBits> bits = std::nullopt)
      : DtlPlaces(kUsualKeys, kMostProcessors) {
    bits_ = bits;
  }
  explicit DtlPlaces(size_t most_keys) : DtlPlaces(most_keys, most_keys) {}

  void add(const DtlPlaces& other);
  void move(uint16_t from, uint16_t to, uint64_t times) {
    moves.at(uint64_t{from} << 16 | to).count += times;
    if (bits_) measure(from, to, times);
  }
  const Distances& distances() const { return distances_; }

  Table moves;         // by processor before << 16 | processor after
  Table processors;    // by CPU << 16 | processor
  Table fault_pages;   // by fault address / 4096
  Table instructions;  // by srr0

 private:
  DtlPlaces(size_t most_keys, size_t most_processors)
      : moves(most_keys),
        processors(most_processors),
        fault_pages(most_keys),
        instructions(most_keys) {}
  void measure(uint16_t from, uint16_t to, uint64_t times);

  static constexpr size_t kUsualKeys = 4096;
  // The home of a virtual processor shall be exact: a thousand of them on each of 256 processors.
  // Ten MiB at most.
  static constexpr size_t kMostProcessors = size_t{1} << 18;

  std::optional<ProcessorBits> bits_;
  Distances distances_;
};

// Of one virtual processor, or of several added up.
class DtlAnalysis {
 public:
  using Interval = StolenIntervals::Interval;  // in ticks of the timebase
  static constexpr unsigned kIntervalsPerSecond = 10;
  // PowerVM gives each virtual processor its share once in a dispatch window of 10 ms.
  static constexpr unsigned kWindowsPerSecond = 100;

  // Entries of one virtual processor in the order of their time.
  void add(std::span<const DtlEntry> entries, int cpu, uint64_t ticks_per_second,
           DtlPlaces& places);

  // Of another virtual processor. Then there is no worst interval.
  void add(const DtlAnalysis& other);

  // Of what follows of the same virtual processor; `places` are those of both.
  void append(const DtlAnalysis& later, DtlPlaces& places);

  // Without entries yet, of what follows of the same virtual processor: whether the first one moved
  // it is seen.
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
  // Ticks for which it was ready and did not run: what Linux counts as stolen time
  // (scan_dispatch_log of arch/powerpc/platforms/pseries/lpar.c).
  uint64_t stolen() const { return enqueue_to_dispatch_.sum() + ready_to_enqueue_.sum(); }
  // Ticks from the first entry to the last; of several virtual processors the sum.
  uint64_t span() const { return span_ + (last_ - first_); }
  // Timebase of the first entry, and of the last.
  uint64_t first() const { return first_; }
  uint64_t last() const { return last_; }
  // Where these were; nothing when there are none.
  std::optional<uint16_t> first_processor() const { return first_processor_; }
  std::optional<uint16_t> last_processor() const { return processor_; }
  // The tenth of a second in which most was stolen.
  Interval worst() const { return intervals_.most(); }
  // Dispatches that were waited for longer than a dispatch window.
  uint64_t late() const { return late_; }
  uint64_t moved() const { return moved_; }

 private:
  friend class DtlStatistics;

  void add_counts(const DtlAnalysis& other);
  void move(uint16_t to, DtlPlaces& places);
  void count_stolen(std::span<const DtlEntry> entries, uint64_t ticks_per_second);

  TickHistogram enqueue_to_dispatch_, ready_to_enqueue_, waiting_to_ready_;
  DtlReasons reasons_;
  StolenIntervals intervals_;
  uint64_t first_ = 0, last_ = 0, span_ = 0;
  uint64_t late_ = 0, moved_ = 0;
  std::optional<uint16_t> first_processor_, processor_;
};

}  // namespace htmtrace

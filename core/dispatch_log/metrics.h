// SPDX-License-Identifier: GPL-2.0-or-later
// Counts the dispatches of a virtual processor for a monitoring system: histograms with fixed
// bounds, and counters that only increase. htmtrace-dtl(1), METRICS.
//
// TickHistogram does not fit: its bounds are powers of two of ticks, so no bound is a round number
// of seconds, and a histogram for each reason would need a hundred times the memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>

#include "core/base/hot_table.h"
#include "core/dispatch_log/analysis.h"
#include "core/dispatch_log/entry.h"
#include "core/dispatch_log/processor_bits.h"

namespace htmtrace {

// The upper bounds of the buckets; a bound belongs to its bucket. The last bucket has no bound. The
// dispatch window of PowerVM, 10 ms, is one of the bounds.
inline constexpr std::array<uint64_t, 12> kDtlBucketBoundsNs = {
    1'000,     10'000,     100'000,    500'000,    1'000'000,   2'000'000,
    5'000'000, 10'000'000, 20'000'000, 50'000'000, 100'000'000, 1'000'000'000};

// The names of reasons. Several codes can have the same name, so each name has a number of its own.
class DtlReasonNames {
 public:
  static constexpr size_t kMost = 12;  // the last name is "other", for all codes without a name

  static const DtlReasonNames& of_dispatch();
  static const DtlReasonNames& of_preempt();

  size_t number(uint8_t code) const { return numbers_[code]; }
  // Empty if the number is not used.
  std::string_view name(size_t number) const { return names_[number]; }

 private:
  explicit DtlReasonNames(std::string_view (*name_of)(uint8_t));

  std::array<uint8_t, 256> numbers_{};
  std::array<std::string_view, kMost> names_{};
};

// The counts of one of the three waits.
struct DtlWaitCounts {
  std::array<uint64_t, kDtlBucketBoundsNs.size() + 1> buckets{};  // not cumulative
  uint64_t ticks = 0;                                             // the sum of the waits

  uint64_t count() const { return std::accumulate(buckets.begin(), buckets.end(), uint64_t{0}); }
};

// The counts of one virtual processor. They only increase.
struct DtlCpuCounts {
  struct Waits {
    DtlWaitCounts enqueue_to_dispatch, ready_to_enqueue, waiting_to_ready;
  };

  std::array<Waits, DtlReasonNames::kMost> waits{};          // by preempt reason
  std::array<uint64_t, DtlReasonNames::kMost> dispatches{};  // by dispatch reason
  uint64_t ticks_per_second = 0;                             // of the sums; 0: no wait was counted
  uint64_t untimed = 0;  // dispatches without waits, because the clock was unknown
  uint64_t moved = 0;    // dispatches on a processor other than that of the preceding dispatch
  // Dispatches on the home and on all other processors. The home is the physical processor with the
  // most dispatches so far, including the counted dispatch.
  uint64_t home = 0, away = 0;
  DtlPlaces::Distances distances;  // `away` by the distance from the home; 0 without ProcessorBits
};

class DtlCpuMetrics {
 public:
  explicit DtlCpuMetrics(std::optional<ProcessorBits> bits);

  // Adds entries in time order. Does not allocate memory, except when a virtual processor was on
  // more than kProcessors physical processors.
  void add(std::span<const DtlEntry> entries, uint64_t ticks_per_second);

  const DtlCpuCounts& counts() const { return counts_; }

  // The home is exact if the virtual processor was on at most this number of physical processors.
  static constexpr size_t kProcessors = 256;
  // An upper bound of the memory of an object.
  static constexpr uint64_t kBytes = 16 << 10;

 private:
  using Bounds = std::array<uint64_t, kDtlBucketBoundsNs.size()>;

  void set_clock(uint64_t ticks_per_second);
  void add_waits(const DtlEntry& entry, DtlCpuCounts::Waits& waits) const;
  void place(uint16_t processor);

  std::optional<ProcessorBits> bits_;
  DtlCpuCounts counts_;
  Bounds bounds_{};  // in ticks
  DtlPlaces::Table processors_{kProcessors};
  std::optional<uint16_t> previous_, home_;
  uint64_t home_dispatches_ = 0;
};

}  // namespace htmtrace

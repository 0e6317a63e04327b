// SPDX-License-Identifier: GPL-2.0-or-later
// Counts 32-bit times in constant memory. Times below 32 ticks are exact; longer times are exact to
// 1/32.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace htmtrace {

class TickHistogram {
 public:
  void add(uint32_t ticks) {
    counts_[bucket_of(ticks)]++;
    count_++;
    sum_ += ticks;
    most_ = std::max(most_, ticks);
  }

  // Adds many waits. It holds the totals apart from the counts, so that the compiler keeps them in
  // registers, although a count may have any address in the histogram. The histogram has the totals
  // after the Adder is destroyed.
  class Adder {
   public:
    explicit Adder(TickHistogram& to) : to_(to) {}
    Adder(const Adder&) = delete;
    Adder& operator=(const Adder&) = delete;
    ~Adder() {
      to_.count_ += count_;
      to_.add_extent(sum_, most_);
    }

    void add(uint32_t ticks) {
      to_.counts_[bucket_of(ticks)]++;
      count_++;
      sum_ += ticks;
      most_ = std::max(most_, ticks);
    }

   private:
    TickHistogram& to_;
    uint64_t count_ = 0;
    uint64_t sum_ = 0;
    uint32_t most_ = 0;
  };

  void add(const TickHistogram& other) {
    for (size_t i = 0; i < kBuckets; i++) counts_[i] += other.counts_[i];
    count_ += other.count_;
    sum_ += other.sum_;
    most_ = std::max(most_, other.most_);
  }

  // The contents of a histogram, for its serialization.
  static constexpr unsigned kStepBits = 5;
  static constexpr size_t kSteps = size_t{1} << kStepBits;  // steps in each power of two
  static constexpr size_t kBuckets = kSteps * (33 - kStepBits);
  std::span<const uint64_t> buckets() const { return counts_; }
  void add_bucket(size_t bucket, uint64_t times) {
    counts_[bucket] += times;
    count_ += times;
  }
  void add_extent(uint64_t sum, uint32_t most) {
    sum_ += sum;
    most_ = std::max(most_, most);
  }
  bool operator==(const TickHistogram&) const = default;

  uint64_t count() const { return count_; }
  uint64_t sum() const { return sum_; }
  uint32_t most() const { return most_; }

  // The smallest T, in ticks, such that at least share / 1000 of all times are at most T. The
  // result is at most 1/32 too high and never exceeds the longest time. Returns 0 for an empty
  // histogram.
  uint32_t quantile(unsigned share) const {
    const uint64_t wanted = (count_ * share + 999) / 1000;
    uint64_t seen = 0;
    for (size_t i = 0; i < kBuckets && wanted != 0; i++) {
      seen += counts_[i];
      if (seen >= wanted) return std::min(last_of(i), most_);
    }
    return 0;
  }

  // The number of times below 2^bits ticks; `bits` is at most 32.
  uint64_t below(unsigned bits) const {
    uint64_t seen = 0;
    for (size_t i = 0; i < kBuckets && last_of(i) < uint64_t{1} << bits; i++) seen += counts_[i];
    return seen;
  }

 private:
  // Has no branch, because the processor cannot predict a branch on the length of a wait.
  static size_t bucket_of(uint32_t ticks) {
    // The position of the highest bit. For this expression, compilers use one instruction on x86.
    const auto highest = static_cast<unsigned>(__builtin_clz(ticks | uint32_t{kSteps})) ^ 31;
    const unsigned shift = highest - kStepBits;
    return kSteps * shift + (ticks >> shift);
  }

  // The longest time of a bucket.
  static uint32_t last_of(size_t bucket) {
    if (bucket < kSteps) return static_cast<uint32_t>(bucket);
    const size_t shift = bucket / kSteps - 1;
    const uint64_t next = (kSteps + bucket % kSteps + 1) << shift;
    return static_cast<uint32_t>(next - 1);
  }

  std::array<uint64_t, kBuckets> counts_{};
  uint64_t count_ = 0;
  uint64_t sum_ = 0;
  uint32_t most_ = 0;
};

}  // namespace htmtrace

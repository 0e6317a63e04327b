// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the interval in which a virtual processor lost the most time. Combining the results of two
// parts of a log gives the exact result of both parts.
#pragma once

#include <cstdint>

namespace htmtrace {

// Intervals begin at the multiples of a length. Only intervals with a dispatch count.
class StolenIntervals {
 public:
  struct Interval {
    uint64_t begin = 0;
    uint64_t stolen = 0;

    bool operator==(const Interval&) const = default;
  };

  // Adds dispatches in the order of the log. Holds a copy of the last interval, and writes it back
  // when it is destroyed.
  class Current {
   public:
    // `length` is in ticks, and not 0.
    Current(StolenIntervals& of, uint64_t length)
        : of_(of), length_(length), last_(of.last), any_(of.count != 0) {}
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;
    ~Current() { of_.last = last_; }

    void add(uint64_t timebase, uint64_t stolen) {
      if (!any_ || timebase < last_.begin || timebase - last_.begin >= length_) [[unlikely]] {
        of_.last = last_;
        of_.open({timebase - timebase % length_, 0});
        last_ = of_.last;
        any_ = true;
      }
      last_.stolen += stolen;
    }

   private:
    StolenIntervals& of_;
    uint64_t length_;
    Interval last_;
    bool any_;
  };

  void add(uint64_t timebase, uint64_t stolen, uint64_t length) {
    Current(*this, length).add(timebase, stolen);
  }

  // Appends a later part with the same length.
  void append(const StolenIntervals& later) {
    if (later.count == 0) return;
    const Interval& begin = later.count == 1 ? later.last : later.first;
    if (count != 0 && last.begin == begin.begin) {
      last.stolen += begin.stolen;
    } else {
      open(begin);
    }
    if (later.count == 1) return;
    open(later.last);
    if (later.count > 2 && (count == 2 || later.worst.stolen > worst.stolen)) worst = later.worst;
    count += later.count - 2;
  }

  // The interval with the most stolen time; among equal intervals, the first.
  Interval most() const {
    Interval found = count > 1 ? first : last;
    if (count > 2 && worst.stolen > found.stolen) found = worst;
    return last.stolen > found.stolen ? last : found;
  }

  bool operator==(const StolenIntervals&) const = default;

  uint64_t count = 0;
  Interval first;  // valid with two or more intervals
  Interval worst;  // the worst interval between first and last
  Interval last;   // the current interval, which may still grow

 private:
  void open(Interval next) {
    if (count == 1) first = last;
    if (count == 2 || (count > 2 && last.stolen > worst.stolen)) worst = last;
    last = next;
    count++;
  }
};

}  // namespace htmtrace

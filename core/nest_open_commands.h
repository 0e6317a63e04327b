// SPDX-License-Identifier: GPL-2.0-or-later
// The commands of one engine that still have no response. htm-nest-trace(5), RESPONSES.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/zeroed_array.h"

namespace htmtrace::nest {

// Commands are numbers that start at 1 and rise; a number is that of an event. Each key has a list
// of its open commands, oldest first. All memory is taken at once, and each call takes constant
// time on average.
class OpenCommands {
 public:
  // A command is open for so many events (the public parser of hw-trace looks back as far as 500).
  static constexpr uint64_t kReach = 512;

  OpenCommands() = default;  // has no keys
  explicit OpenCommands(size_t keys) : lists_(keys) {}
  bool empty() const { return lists_.empty(); }

  struct Found {
    uint64_t number = 0;   // 0: no command is open
    bool several = false;  // other commands with this key are open, too
  };

  // `number` is higher than all before.
  void add(uint32_t key, uint64_t number) {
    uint64_t& list = lists_[key];
    if (list == 0 || number - newest(list) > kReach) [[likely]] {
      list = number << 1;
    } else {
      append(list, number);
    }
  }

  // The oldest open command, which is closed by this. `next` is the number of the next event.
  Found take(uint32_t key, uint64_t next) {
    uint64_t& list = lists_[key];
    const uint64_t number = newest(list);
    if (list == 0 || next - number > kReach) return {};
    if ((list & kSeveral) != 0) [[unlikely]]
      return take_oldest(list, next);
    list = 0;
    return {.number = number, .several = false};
  }

 private:
  // A list is its newest command << 1, with kSeveral if there are more: only then it has links.
  static constexpr uint64_t kSeveral = 1;
  static uint64_t newest(uint64_t list) { return list >> 1; }

  // Power of two. The newest command of a list that is still used is at most kReach events old, and
  // the oldest one was at most kReach events older when the list was used last.
  static constexpr size_t kPlaces = 2048;
  static_assert(kPlaces > 2 * kReach && kPlaces <= 1 << 16);

  static uint16_t low(uint64_t number) { return static_cast<uint16_t>(number); }
  uint16_t& link(uint64_t number) { return links_[number % kPlaces]; }

  // The number below `next` that a link leads to.
  uint64_t follow(uint64_t number, uint64_t next) {
    return next - static_cast<uint16_t>(low(next) - link(number));
  }

  // The oldest command of a list with links whose newest one is in reach.
  uint64_t oldest(uint64_t newest, uint64_t next) {
    uint64_t number = follow(newest, next);
    while (next - number > kReach) number = follow(number, next);
    return number;
  }

  [[gnu::noinline]] void append(uint64_t& list, uint64_t number) {
    const uint64_t last = newest(list);
    const uint64_t first = (list & kSeveral) != 0 ? oldest(last, number) : last;
    link(last) = low(number);
    link(number) = low(first);
    list = number << 1 | kSeveral;
  }

  [[gnu::noinline]] Found take_oldest(uint64_t& list, uint64_t next) {
    const uint64_t last = newest(list);
    const uint64_t first = oldest(last, next);
    if (first == last) {  // the others are too old
      list = 0;
      return {.number = last, .several = false};
    }
    link(last) = link(first);
    if (follow(last, next) == last) list = last << 1;
    return {.number = first, .several = true};
  }

  ZeroedArray<uint64_t> lists_;            // by key; 0: no command
  std::array<uint16_t, kPlaces> links_{};  // to the next command; from the newest to the oldest
};

}  // namespace htmtrace::nest

// SPDX-License-Identifier: GPL-2.0-or-later
// The commands of one engine that wait for a response. htm-nest-trace(5), RESPONSES.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/base/zeroed_array.h"

namespace htmtrace::nest {

// The number of its event identifies a command; numbers start at 1 and increase. Each key has a
// list of its open commands, the oldest first. The constructor allocates all memory, and each call
// takes constant time on average.
class OpenCommands {
 public:
  // A command is open for kReach events (the public parser of hw-trace searches the last 500
  // events).
  static constexpr uint64_t kReach = 512;

  OpenCommands() = default;  // without keys
  explicit OpenCommands(size_t keys) : lists_(keys) {}
  bool empty() const { return lists_.empty(); }

  struct Found {
    uint64_t number = 0;   // 0: no command is open
    bool several = false;  // other commands with this key are also open
  };

  // `number` must exceed all earlier numbers.
  void add(uint32_t key, uint64_t number) {
    uint64_t& list = lists_[key];
    if (list == 0 || number - newest(list) > kReach) [[likely]] {
      list = number << 1;
    } else {
      append(list, number);
    }
  }

  // Returns and closes the oldest open command. `next` is the number of the next event.
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
  // A list holds its newest command << 1. With further commands, the list also has kSeveral and
  // links.
  static constexpr uint64_t kSeveral = 1;
  static uint64_t newest(uint64_t list) { return list >> 1; }

  // A power of two. The newest command of an active list is at most kReach events old. At the last
  // use of the list, its oldest command was at most kReach events older. The commands of a list
  // therefore have different places.
  static constexpr size_t kPlaces = 2048;
  static_assert(kPlaces > 2 * kReach && kPlaces <= 1 << 16);

  static uint16_t low(uint64_t number) { return static_cast<uint16_t>(number); }
  uint16_t& link(uint64_t number) { return links_[number % kPlaces]; }

  // The target of a link, as a number below `next`.
  uint64_t follow(uint64_t number, uint64_t next) {
    return next - static_cast<uint16_t>(low(next) - link(number));
  }

  // The oldest command of a list with links. The newest command must be in reach.
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
    if (first == last) {  // the other commands are too old
      list = 0;
      return {.number = last, .several = false};
    }
    link(last) = link(first);
    if (follow(last, next) == last) list = last << 1;
    return {.number = first, .several = true};
  }

  ZeroedArray<uint64_t> lists_;  // indexed by key; 0: no command
  std::array<uint16_t, kPlaces>
      links_{};  // link to the next newer command; the newest links to the oldest
};

}  // namespace htmtrace::nest

// SPDX-License-Identifier: GPL-2.0-or-later
// The commands of one engine that wait for a response. htm-nest-trace(5), RESPONSES.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/base/zeroed_array.h"
#include "core/nest_trace/events.h"

namespace htmtrace::nest {

// The number of its event identifies a command. Numbers start at kFirst and increase. Each key has
// a list of its open commands, the oldest first. The constructor allocates all memory, and each
// call takes constant time on average.
class OpenCommands {
 public:
  // A command is open for kReach events (the public parser of hw-trace searches the last 500
  // events).
  static constexpr uint64_t kReach = 512;
  static constexpr uint64_t kFirst = kReach + 1;

  // Keys are below this number. The low kScopeBits of a key hold the scope.
  static constexpr unsigned kKeyBits = 19;
  static constexpr unsigned kScopeBits = 3;

  // Accepts no commands of an unknown layout.
  explicit OpenCommands(Layout layout) {
    if (layout != Layout::kUnknown) lists_ = ZeroedArray<uint64_t>(size_t{1} << kKeyBits);
  }
  bool empty() const { return lists_.empty(); }

  struct Found {
    uint64_t number = 0;   // 0: no command is open
    bool several = false;  // other commands with this key are also open
  };

  // `number` must be at least kFirst and exceed all earlier numbers. No branch depends on the list,
  // because no processor can predict whether a command with this key is open.
  void add(uint32_t key, uint64_t number) {
    uint64_t& list = lists_[list_of(key)];
    const uint64_t last = newest(list);
    const uint64_t is_first = is_old(last, number);
    links_[last % kPlaces + is_first * kPlaces] = low(number);
    const auto first = low(list ^ ((list ^ number) & -is_first));
    list = number << kLinkBits | first;
    if (static_cast<uint16_t>(low(number) - first) > kMostSpan) [[unlikely]]
      drop_old(list, number);
  }

  // Returns and closes the oldest open command. `next` is the number of the next event. Branches as
  // little as add().
  Found take(uint32_t key, uint64_t next) {
    uint64_t& list = lists_[list_of(key)];
    const uint64_t last = newest(list);
    const uint64_t is_open = 1 - is_old(last, next);
    if ((low(list ^ last) & -is_open) != 0) [[unlikely]]
      return take_oldest(list, next);
    list = 0;
    return {.number = last & -is_open, .several = false};
  }

 private:
  // Traces use most tickets, but few scopes. Lists whose keys differ only in the ticket share cache
  // lines.
  static size_t list_of(uint32_t key) {
    return key >> kScopeBits | key % (1 << kScopeBits) << (kKeyBits - kScopeBits);
  }

  // A list holds the number of its newest command, and the low bits of the number of its oldest
  // command. If the newest command is too old, the list is empty. 0 is such a list, because it is
  // too old for all numbers from kFirst on.
  static constexpr unsigned kLinkBits = 16;
  static uint64_t newest(uint64_t list) { return list >> kLinkBits; }
  // 1 if a command is too old, else 0. Arithmetic, because compilers turn comparisons into
  // branches.
  static uint64_t is_old(uint64_t number, uint64_t next) {
    return (kReach - (next - number)) >> 63;
  }
  static uint16_t low(uint64_t number) { return static_cast<uint16_t>(number); }

  // A power of two. add() limits the distance between the oldest and the newest command of a list
  // to kMostSpan, and the newest command is at most kReach events old. The commands of a list
  // therefore have different places.
  static constexpr size_t kPlaces = 4096;
  static constexpr uint64_t kMostSpan = kPlaces - kReach - 1;
  static_assert(kPlaces > 2 * kReach && kPlaces <= 1 << kLinkBits);

  // The next newer command of the same list.
  uint64_t newer(uint64_t number) const {
    return number + static_cast<uint16_t>(links_[number % kPlaces] - low(number));
  }

  // The oldest open command of a list whose newest command is open.
  uint64_t oldest(uint64_t list, uint64_t next) const {
    const uint64_t last = newest(list);
    uint64_t number = last - static_cast<uint16_t>(low(last) - low(list));
    while (next - number > kReach) number = newer(number);
    return number;
  }

  [[gnu::noinline]] void drop_old(uint64_t& list, uint64_t next) {
    list = newest(list) << kLinkBits | low(oldest(list, next));
  }

  [[gnu::noinline]] Found take_oldest(uint64_t& list, uint64_t next) {
    const uint64_t last = newest(list);
    const uint64_t first = oldest(list, next);
    if (first == last) {  // the other commands are too old
      list = 0;
      return {.number = last, .several = false};
    }
    list = last << kLinkBits | low(newer(first));
    return {.number = first, .several = true};
  }

  ZeroedArray<uint64_t> lists_;  // indexed by list_of()
  // The low bits of the next newer command's number, by number. add() writes to the second half,
  // which nothing reads, if the list was empty.
  std::array<uint16_t, 2 * kPlaces> links_{};
};

}  // namespace htmtrace::nest

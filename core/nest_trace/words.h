// SPDX-License-Identifier: GPL-2.0-or-later
// The position of each field in a nest (bus) trace record. This header owns the layout. Forced
// inlining reduces each field to two instructions and removes unused fields.
//
// A record is 16 bytes: two 64-bit big-endian words, bits 0-63 and 64-127; bit 0 is the most
// significant bit. man/htm-nest-trace.5 describes the records. The layouts follow open-power's
// hw-trace (POWER8) and its pull request 1 (POWER9).
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

#include "core/base/big_endian.h"
#include "core/core_trace/words.h"

namespace htmtrace::nest {

inline constexpr size_t kRecordBytes = 16;
inline constexpr size_t kLineBytes = 128;   // the unit in which an engine writes
inline constexpr unsigned kTimerBits = 36;  // of the timer in stamps

struct Record {
  uint64_t high = 0;  // bits 0-63
  uint64_t low = 0;   // bits 64-127

  // Bits first..last, which may span both words.
  [[gnu::always_inline]] constexpr uint64_t bits(unsigned first, unsigned last) const {
    if (last < 64) return words::bits(high, first, last);
    if (first >= 64) return words::bits(low, first - 64, last - 64);
    return words::bits(high, first, 63) << (last - 63) | words::bits(low, 0, last - 64);
  }
  [[gnu::always_inline]] constexpr unsigned field(unsigned first, unsigned last) const {
    return static_cast<unsigned>(bits(first, last));
  }
  [[gnu::always_inline]] constexpr bool bit(unsigned position) const {
    return bits(position, position) != 0;
  }
  constexpr bool operator==(const Record&) const = default;
};

inline Record record_at(const std::byte* bytes) {
  return {load_be64(bytes), load_be64(bytes + words::kWordBytes)};
}

enum class RecordType : uint8_t { kStamp, kResponses, kCommand };  // bits 0:1 are 00, 01, 1x

constexpr RecordType record_type(const Record& record) {
  if (record.bit(0)) return RecordType::kCommand;
  return record.bit(1) ? RecordType::kResponses : RecordType::kStamp;
}

// FRAMING: a stamp record ends with the stamp word of core traces. POWER8 does not document the
// first word. Later generations write a companion word with a timer there.
constexpr bool is_stamp(const Record& record) {
  return record_type(record) == RecordType::kStamp && words::is_stamp(record.low);
}
constexpr bool has_timer(const Record& record) {
  return words::is_companion(record.high);
}
constexpr bool is_filler(const Record& record) {
  return record.high == 0 && record.low == 0;
}

// ------------------------------------------------------------------------------ COMMANDS

// The sender of a command.
struct Tag {
  unsigned group = 0;  // POWER8: node
  unsigned chip = 0;
  unsigned unit = 0;
  unsigned transaction = 0;
};

struct Command {
  uint64_t address = 0;
  Tag tag;
  unsigned scope = 0;
  unsigned ticket = 0;
  unsigned ttype = 0;
  unsigned tsize = 0;
  unsigned source = 0;    // POWER8
  unsigned priority = 0;  // POWER8
};

// A combined response. Its scope, ticket and requesting chip identify the command.
struct Response {
  unsigned code = 0;
  unsigned group = 0;
  unsigned chip = 0;
  unsigned ticket = 0;
  unsigned snoop_port = 0;
  unsigned scope = 0;
  unsigned target = 0;  // POWER9: target or source of the data
};

// ------------------------------------------------------------------------------ POWER8

struct Power8 {
  static constexpr unsigned kPorts = 2;
  static constexpr unsigned kSlots[] = {8, 40, 72, 104};  // of a response record
  static constexpr unsigned kEmbeddedSlot = 104;          // of a command record

  [[gnu::always_inline]] static constexpr Command command(const Record& r) {
    return {.address = r.bits(86, 91) << 44 | r.bits(20, 63),
            .tag = {r.field(1, 3), r.field(4, 6), r.field(7, 14), r.field(15, 19)},
            .scope = r.field(83, 85),
            .ticket = r.field(64, 69),
            .ttype = r.field(70, 75),
            .tsize = r.field(76, 82),
            .source = r.field(92, 93),
            .priority = r.field(94, 95)};
  }
  [[gnu::always_inline]] static constexpr unsigned delta(const Record& r) {
    return r.field(96, 103);
  }
  [[gnu::always_inline]] static constexpr bool slot_valid(const Record& r, unsigned slot) {
    return r.bit(slot);
  }
  [[gnu::always_inline]] static constexpr Response response(const Record& r, unsigned slot) {
    return {.code = r.field(slot + 3, slot + 7),
            .group = r.field(slot + 8, slot + 10),
            .chip = r.field(slot + 11, slot + 13),
            .ticket = r.field(slot + 14, slot + 19),
            .snoop_port = r.field(slot + 20, slot + 20),
            .scope = r.field(slot + 21, slot + 23),
            .target = 0};
  }
};

// ------------------------------------------------------------------------------ POWER9

struct Power9 {
  static constexpr unsigned kPorts = 4;
  static constexpr unsigned kSlots[] = {2, 32, 64, 98};
  static constexpr unsigned kEmbeddedSlot = 98;

  // Bits 19-22 and 23-26 hold the flex mux's default fields.
  [[gnu::always_inline]] static constexpr Command command(const Record& r) {
    const unsigned transaction = r.field(18, 18) << 4 | r.field(23, 26);
    return {.address = r.bits(27, 42) << 32 | r.bits(43, 68) << 6 | r.bits(19, 22) << 2,
            .tag = {r.field(1, 4), r.field(5, 7), r.field(8, 17), transaction},
            .scope = r.field(69, 71),
            .ticket = r.field(72, 78),
            .ttype = r.field(79, 85),
            .tsize = r.field(86, 93)};
  }
  [[gnu::always_inline]] static constexpr unsigned delta(const Record& r) {
    return r.field(94, 97);
  }
  [[gnu::always_inline]] static constexpr bool slot_valid(const Record& r, unsigned slot) {
    return r.bit(slot);
  }
  [[gnu::always_inline]] static constexpr Response response(const Record& r, unsigned slot) {
    return {.code = r.field(slot + 1, slot + 5),
            .group = r.field(slot + 6, slot + 9),
            .chip = r.field(slot + 10, slot + 12),
            .ticket = r.field(slot + 13, slot + 19),
            .snoop_port = r.field(slot + 20, slot + 20),
            .scope = r.field(slot + 21, slot + 23),
            .target = r.field(slot + 24, slot + 29)};
  }
};

// Calls take(slot) for each slot of a response record. Each slot has a type of its own, so that its
// fields have constant positions.
template <class Fields, class Take>
[[gnu::always_inline]] constexpr void for_each_slot(const Take& take) {
  [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
    (take(std::integral_constant<unsigned, Fields::kSlots[kIndex]>()), ...);
  }
  (std::make_index_sequence<std::size(Fields::kSlots)>());
}

}  // namespace htmtrace::nest

// SPDX-License-Identifier: GPL-2.0-or-later
// A record of a qtrace file, which describes an instruction and how control reached the next
// instruction. qtrace-tools (public, GPL) reads and writes the same numbers. No other specification
// is public. htmtrace-qtrace(5).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/big_endian.h"

namespace htmtrace::qtrace {

inline constexpr uint16_t kMoreFlags = 0x0001;  // in the first word of flags: a second word follows

// A page number counts units of 1 << shift bytes. One number holds both values, because they are
// stored and compared together.
class Page {
 public:
  Page() = default;  // unknown page
  Page(uint32_t number, unsigned shift) : both_(uint64_t{shift} << 32 | number) {}
  uint32_t number() const { return static_cast<uint32_t>(both_); }
  uint8_t shift() const { return static_cast<uint8_t>(both_ >> 32); }
  unsigned known() const { return both_ != 0 ? 1 : 0; }  // no page number counts units of one byte
  bool operator==(const Page&) const = default;

 private:
  uint64_t both_ = 0;
};

// How control reaches the next instruction.
inline constexpr uint8_t kUnconditionalBranch = 0x08;
inline constexpr uint8_t kConditionalBranch = 0x80;
inline constexpr uint8_t kException = 0x10;

// Fields with the values 0 and 1 are numbers, because put() calculates with them.
struct Record {
  uint32_t word = 0;  // the instruction word
  uint8_t termination = 0;
  unsigned data = 0;  // 1: it accesses data_ea
  uint64_t data_ea = 0;
  Page data_page;
  unsigned jumps = 0;  // 1: the next instruction does not follow this instruction but is at `next`
  uint64_t next = 0;
  unsigned turns_page = 0;  // 1: the next instruction is in another page, `page`
  Page page;
};

// Writes 40 bytes, and returns the end of the record. The parts of a record vary
// unpredictably for a processor, so the function has no branches. It writes all parts in sequence,
// and overwrites the parts that the record omits.
[[gnu::always_inline]] inline char* put(char* to, const Record& record) {
  constexpr unsigned kIarChange = 0x8000, kNode = 0x4000, kTermination = 0x2000, kData = 0x0800,
                     kDataPage = 0x0200, kIar = 0x0040, kIarPage = 0x0010;
  constexpr unsigned kSequentialPage = 0x4000, kIarPageSize = 0x0200, kDataPageSize = 0x0100,
                     kSequentialPageSize = 0x0020;
  const unsigned ends = record.termination != 0 ? 1 : 0;
  const unsigned data_page = record.data & record.data_page.known();
  const unsigned jump_page = record.turns_page & record.jumps;
  const unsigned sequential_page = record.turns_page & ~record.jumps;
  const unsigned flags = kMoreFlags | ends * (kNode | kTermination) |
                         record.jumps * (kIarChange | kIar) | jump_page * kIarPage |
                         record.data * kData | data_page * kDataPage;
  const unsigned more = jump_page * kIarPageSize | data_page * kDataPageSize |
                        sequential_page * (kSequentialPage | kSequentialPageSize);
  auto* at = reinterpret_cast<std::byte*>(to);
  store_be64(at, uint64_t{record.word} << 32 | uint64_t{flags} << 16 | more);
  at += 8;
  store_be32(at, uint32_t{record.termination} << 8);  // after node and termination node
  at += size_t{ends} * 3;
  store_be64(at, record.data_ea);
  at += size_t{record.data} * 8;
  store_be32(at, record.data_page.number());
  at += size_t{data_page} * 4;
  store_be64(at, record.next);
  at += size_t{record.jumps} * 8;
  store_be32(at, record.page.number());
  at[4] = std::byte{record.page.shift()};
  at += size_t{record.turns_page} * 5;
  *at = std::byte{record.data_page.shift()};
  return reinterpret_cast<char*>(at + data_page);
}

}  // namespace htmtrace::qtrace

// SPDX-License-Identifier: GPL-2.0-or-later
// The size of the lists of address ranges in DWARF. libdw reads the lists, but any number of
// functions may have the same list, and the library may read all of it for a single range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/error.h"
#include "output/source_lines/byte_reader.h"

namespace htmtrace {

struct RangeSections {
  std::span<const std::byte> ranges;    // .debug_ranges, up to DWARF 4
  std::span<const std::byte> rnglists;  // .debug_rnglists, of DWARF 5
  bool big_endian = false;
};

// DWARF 5, 7.25.
enum RangeKind : uint8_t {
  kEndOfList,
  kBaseAddressx,
  kStartxEndx,
  kStartxLength,
  kOffsetPair,
  kBaseAddress,
  kStartEnd,
  kStartLength,
};

// Skips an element of a list. Returns false after the last one. Throws Error.
inline bool skip_range(ByteReader& reader, unsigned version, unsigned address_bytes) {
  if (version < 5) {
    const uint64_t begin = reader.number(address_bytes);
    return (reader.number(address_bytes) | begin) != 0;
  }
  switch (reader.byte()) {
    case kBaseAddressx:
      reader.uleb();
      return true;
    case kStartxEndx:
    case kStartxLength:
    case kOffsetPair:
      reader.uleb();
      reader.uleb();
      return true;
    case kBaseAddress:
      reader.skip(address_bytes);
      return true;
    case kStartEnd:
      reader.skip(2 * uint64_t{address_bytes});
      return true;
    case kStartLength:
      reader.skip(address_bytes);
      reader.uleb();
      return true;
    default:  // the end, or damage
      return false;
  }
}

// The bytes of the list at `offset`. A damaged list ends at the damage.
inline uint64_t list_bytes(const RangeSections& sections, unsigned version, unsigned address_bytes,
                           uint64_t offset) {
  const auto section = version < 5 ? sections.ranges : sections.rnglists;
  if (offset >= section.size() || (address_bytes != 4 && address_bytes != 8)) return 0;
  ByteReader reader(section.subspan(offset), sections.big_endian);
  try {
    while (skip_range(reader, version, address_bytes)) continue;
  } catch (const Error&) {
    // The section ends in the list.
  }
  return section.size() - offset - reader.left();
}

// The offset that the element `index` of the table at `base` states (DW_FORM_rnglistx).
inline uint64_t list_offset(const RangeSections& sections, uint64_t base, uint64_t index,
                            unsigned offset_bytes) {
  const auto section = sections.rnglists;
  if (base > section.size() || index >= (section.size() - base) / offset_bytes) return 0;
  ByteReader reader(section.subspan(base + index * offset_bytes), sections.big_endian);
  return base + reader.number(offset_bytes);
}

}  // namespace htmtrace

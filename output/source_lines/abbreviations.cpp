// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/source_lines/abbreviations.h"

#include <cstdint>
#include <map>

#include "core/base/error.h"
#include "output/source_lines/byte_reader.h"

namespace htmtrace {
namespace {

// Measured with libdw 0.188: the memory of a unit with the first elements of its hash table, and of
// an abbreviation with its element.
constexpr uint64_t kUnitBytes = 1280;
constexpr uint64_t kAbbreviationBytes = 128;
// DWARF 5 has 140 attributes. GCC gives a function 7 attributes without a value.
constexpr unsigned kMostAttributes = 256;
constexpr unsigned kMostWithoutValue = 48;
// DWARF 5, 7.5.6, figure 7.5.
enum WithoutValue : uint64_t { kFlagPresent = 0x19, kImplicitConst = 0x21 };
// DWARF 5, 7.4.
constexpr uint64_t kLongUnit = 0xffffffff;

class AbbreviationCheck {
 public:
  AbbreviationCheck(const EntrySections& sections, MemoryBudget& budget, WorkBudget& work)
      : sections_(sections), budget_(budget), work_(work) {}

  void units(std::span<const std::byte> section) {
    try {
      ByteReader reader(section, sections_.big_endian);
      while (!reader.at_end()) unit(reader);
    } catch (const Damaged&) {
      // The library does not find the units beyond this one.
    }
  }

 private:
  // Distinguishes the end of the bytes from a refused file.
  struct Damaged {};
  template <class Read>
  static auto read(const Read& read) {
    try {
      return read();
    } catch (const Error&) {
      throw Damaged();
    }
  }

  void unit(ByteReader& reader) {
    const uint64_t offset = read([&] {
      unsigned offset_bytes = 4;
      uint64_t bytes = reader.number(4);
      if (bytes == kLongUnit) {
        offset_bytes = 8;
        bytes = reader.number(8);
      }
      ByteReader header = reader.part(bytes);
      if (header.number(2) >= 5) header.skip(2);  // the type of the unit and the size of addresses
      return header.number(offset_bytes);
    });
    budget_.take(kUnitBytes);
    budget_.take(abbreviations_at(offset) * kAbbreviationBytes);
  }

  // Returns how many abbreviations the table has.
  uint64_t abbreviations_at(uint64_t offset) {
    const auto known = tables_.find(offset);
    if (known != tables_.end()) return known->second;
    const auto all = sections_.abbreviations;
    uint64_t count = 0;
    if (offset < all.size()) {
      ByteReader reader(all.subspan(offset), sections_.big_endian);
      try {
        while (abbreviation(reader)) count++;
      } catch (const Damaged&) {
        count++;
      }
      if (!work_.spend(all.size() - offset - reader.left())) {
        throw Error("its tables of abbreviations overlap");
      }
    }
    tables_.emplace(offset, count);
    return count;
  }

  // Returns false at the end of the table.
  static bool abbreviation(ByteReader& reader) {
    if (read([&] { return reader.uleb(); }) == 0) return false;
    read([&] {
      reader.uleb();  // tag
      return reader.byte();
    });
    unsigned without_value = 0;
    for (unsigned count = 0;; count++) {
      const auto [name, form] = read([&] {
        const uint64_t first = reader.uleb();
        const uint64_t second = reader.uleb();
        if (second == kImplicitConst) reader.sleb();
        return std::pair(first, second);
      });
      if (name == 0 && form == 0) return true;
      if (form == kFlagPresent || form == kImplicitConst) without_value++;
      if (count == kMostAttributes || without_value > kMostWithoutValue) {
        throw Error("an abbreviation has too many attributes");
      }
    }
  }

  const EntrySections& sections_;
  MemoryBudget& budget_;
  WorkBudget& work_;
  std::map<uint64_t, uint64_t> tables_;  // number of abbreviations by offset
};

}  // namespace

void check_abbreviations(const EntrySections& sections, MemoryBudget& budget, WorkBudget& work) {
  AbbreviationCheck check(sections, budget, work);
  check.units(sections.info);
  check.units(sections.types);
}

}  // namespace htmtrace

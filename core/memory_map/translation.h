// SPDX-License-Identifier: GPL-2.0-or-later
// Translates machine real addresses to a partition's logical real addresses. The memory map comes
// from the hypervisor's DUMP_SYSMEM_CONF. htm-translation(5).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/address.h"
#include "core/base/range_search.h"
#include "core/memory_map/owners.h"

namespace htmtrace {

// The contents and defects of a translation file. No defect stops the decoder.
struct TranslationReport {
  uint64_t size_bytes = 0;
  uint64_t blocks = 0;
  uint64_t entries = 0;              // of all partitions
  uint64_t own_entries = 0;          // of the requested partition
  uint64_t unmapped = 0;             // own, but without a logical address (holes)
  uint64_t duplicates = 0;           // own, repeating memory of an earlier entry
  uint64_t overlaps = 0;             // own, contradicting an earlier entry; cut to the remainder
  uint64_t malformed = 0;            // empty, or beyond the end of the address space; ignored
  uint64_t truncated_blocks = 0;     // announced more entries than the file holds
  uint64_t trailing_bytes = 0;       // after the last whole entry
  uint64_t mapped_bytes = 0;         // own memory that has a translation
  uint64_t contested_bytes = 0;      // claimed by more than one partition
  std::vector<uint32_t> partitions;  // LP indexes in the file, ascending

  bool damaged() const {
    return overlaps != 0 || malformed != 0 || truncated_blocks != 0 || trailing_bytes != 0;
  }
};

class TranslationMap {
 public:
  struct Range {
    uint64_t real = 0;
    uint64_t size_bytes = 0;
    uint64_t logical = 0;

    // `address` must lie in the range.
    LogicalAddr translate(RealAddr address) const {
      return LogicalAddr{address.value - real + logical};
    }
  };

  // A map without addresses.
  TranslationMap() = default;

  // Reads the concatenated blocks of a translation file and keeps the entries of `partition`.
  // Without a partition, keeps all entries if the file lists a single partition, and no entries
  // otherwise. Accepts any bytes; report() counts the defects.
  TranslationMap(std::span<const std::byte> file, std::optional<uint32_t> partition);

  const TranslationReport& report() const { return report_; }

  // The owners of all memory in the file. Memory without a partition has no owner.
  const MemoryOwners& owners() const { return owners_; }

  // Sorted by real address, without overlaps.
  const std::vector<Range>& ranges() const { return ranges_; }

  // Returns true if each page of 4 KiB is translated as a whole or not at all, and if its addresses
  // keep their offsets in the page.
  bool in_whole_pages() const { return in_whole_pages_; }

  // The range that holds `address`; null when none does.
  const Range* find(RealAddr address) const;

  // Translates a stream of addresses, most of which fall into a recently used range or gap.
  class Cursor {
   public:
    explicit Cursor(const TranslationMap& map) : map_(&map) {}

    // The range that holds `address`, or null; valid until the next call. Returns a pointer, not an
    // optional address: a value built in parts and read at once stalls in the processor's store
    // queue.
    [[gnu::always_inline]] const Range* find(RealAddr address) {
      const Range& recent = recent_[place_of(address)];
      if (address.value - recent.real >= recent.size_bytes) [[unlikely]]
        return search(address);
      return &recent;
    }

    // Returns 1 only if find() succeeds without a search of the map. Has no branch, because the
    // processor cannot predict whether such values are addresses.
    [[gnu::always_inline]] unsigned recently(RealAddr address) const {
      const Range& recent = recent_[place_of(address)];
      const uint64_t ahead = address.value - recent.real;
      // The difference is negative if the range holds the address. ~ahead rejects the addresses
      // below the range, for which `ahead` wraps.
      return static_cast<unsigned>(((ahead - recent.size_bytes) & ~ahead) >> 63);
    }
    bool empty() const { return map_->ranges().empty(); }
    bool in_whole_pages() const { return map_->in_whole_pages(); }

    std::optional<LogicalAddr> translate(RealAddr address) {
      const Range* range = find(address);
      if (range == nullptr) return std::nullopt;
      return range->translate(address);
    }

   private:
    static constexpr size_t kRecent = 64;
    static size_t place_of(RealAddr address) { return address.value / kRecentRangeBytes % kRecent; }
    const Range* search(RealAddr address);

    const TranslationMap* map_;
    std::array<Range, kRecent> recent_{};
    std::array<Gap, kRecent> recent_gaps_{};  // a trace may hold many addresses of other partitions
  };

 private:
  struct Entry;
  std::vector<Entry> read_blocks(std::span<const std::byte> file);
  void find_owners(const std::vector<Entry>& entries);
  void choose_own(std::vector<Entry>& entries, std::optional<uint32_t> partition);
  void build_ranges(const std::vector<Entry>& entries);
  void add(Range range);

  TranslationReport report_;
  MemoryOwners owners_;
  std::vector<Range> ranges_;
  bool in_whole_pages_ = true;
};

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
// Machine real addresses to a partition's logical real addresses, from the memory map that the
// hypervisor's DUMP_SYSMEM_CONF returns. htm-translation(5).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/address.h"
#include "core/memory_owners.h"

namespace htmtrace {

// What was found in a translation file. Nothing in it stops the decoding.
struct TranslationReport {
  uint64_t size_bytes = 0;
  uint64_t blocks = 0;
  uint64_t entries = 0;              // of all partitions
  uint64_t own_entries = 0;          // of the partition asked for
  uint64_t unmapped = 0;             // own, but without a logical address (holes)
  uint64_t duplicates = 0;           // own, the same block of memory again
  uint64_t overlaps = 0;             // own, contradicting one that starts before; cut to the rest
  uint64_t malformed = 0;            // empty, or beyond the end of the address space; left out
  uint64_t truncated_blocks = 0;     // announced more entries than the file holds
  uint64_t trailing_bytes = 0;       // behind the last whole entry
  uint64_t mapped_bytes = 0;         // of own memory that can be translated
  uint64_t contested_bytes = 0;      // that more than one partition has, as the file says
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

    // Of an address in it.
    LogicalAddr translate(RealAddr address) const {
      return LogicalAddr{address.value - real + logical};
    }
  };

  // Knows no address.
  TranslationMap() = default;

  // Reads the concatenated blocks of a translation file and keeps what belongs to `partition`.
  // Without a partition, keeps everything if the file speaks of one only, and nothing otherwise.
  // Any bytes will do; damage is told in report().
  TranslationMap(std::span<const std::byte> file, std::optional<uint32_t> partition);

  const TranslationReport& report() const { return report_; }

  // Whose memory all is that the file speaks of; that of no partition is left out.
  const MemoryOwners& owners() const { return owners_; }

  // Sorted by real address, without overlaps.
  const std::vector<Range>& ranges() const { return ranges_; }

  // Of each page of 4 KiB all addresses can be translated, or none.
  bool in_whole_pages() const { return in_whole_pages_; }

  // The range that holds `address`; null when none does.
  const Range* find(RealAddr address) const;

  // Translates for one stream of addresses, of which most fall where one shortly before did.
  class Cursor {
   public:
    explicit Cursor(const TranslationMap& map) : map_(&map) {}

    // The range that holds `address`, until the next call; null when none does. No optional
    // address, because one that is built in parts and read at once waits for the processor's store
    // queue.
    [[gnu::always_inline]] const Range* find(RealAddr address) {
      Range& recent = recent_[address.value / kRecentBytes % recent_.size()];
      if (address.value - recent.real >= recent.size_bytes) [[unlikely]] {
        const Range* range = map_->find(address);
        if (range == nullptr) return nullptr;
        recent = *range;
      }
      return &recent;
    }

    // 1 only if find() would find it, and at once. Without a branch: for addresses of which no
    // processor foresees whether they are any.
    [[gnu::always_inline]] unsigned recently(RealAddr address) const {
      const Range& recent = recent_[address.value / kRecentBytes % recent_.size()];
      const uint64_t ahead = address.value - recent.real;
      // Neither of two that are compared so uses its top bit.
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
    // The memory blocks of a partition are 256 MiB in practice; neighbours have places of their
    // own.
    static constexpr uint64_t kRecentBytes = 256 << 20;

    const TranslationMap* map_;
    std::array<Range, 64> recent_{};
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

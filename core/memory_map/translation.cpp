// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/memory_map/translation.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "core/base/big_endian.h"
#include "core/base/range_search.h"
#include "core/memory_map/blocks.h"

namespace htmtrace {
namespace {

// An entry as H_HTM DUMP_SYSMEM_CONF returns it (htm-translation(5)).
constexpr size_t kEntryReal = 0x00;
constexpr size_t kEntryLogical = 0x08;
constexpr size_t kEntryPartition = 0x10;
constexpr size_t kEntrySize = 0x18;
constexpr uint64_t kRealMask = 0x7fffffffffffffff;  // the top bit does not belong to the address
constexpr uint64_t kNoLogical = std::numeric_limits<uint64_t>::max();

}  // namespace

struct TranslationMap::Entry {
  bool mapped() const { return range.logical != kNoLogical; }
  bool malformed() const {
    const uint64_t room = std::numeric_limits<uint64_t>::max() - range.size_bytes;
    return range.size_bytes == 0 || range.real > room || range.logical > room;
  }

  Range range;
  uint32_t partition = 0;
};

TranslationMap::TranslationMap(std::span<const std::byte> file, std::optional<uint32_t> partition) {
  report_.size_bytes = file.size();
  std::vector<Entry> entries = read_blocks(file);
  find_owners(entries);
  choose_own(entries, partition);
  build_ranges(entries);
}

std::vector<TranslationMap::Entry> TranslationMap::read_blocks(std::span<const std::byte> file) {
  std::vector<Entry> entries;
  entries.reserve(file.size() / kMemoryEntryBytes);
  while (const auto block = parse_htm_block(file, file.size(), kMemoryEntryBytes)) {
    report_.blocks++;
    if (block->truncated()) report_.truncated_blocks++;
    for (size_t at = kHtmBlockHeaderBytes; at < block->size_bytes; at += kMemoryEntryBytes) {
      const std::byte* entry = file.data() + at;
      entries.push_back({.range = {.real = load_be64(entry + kEntryReal) & kRealMask,
                                   .size_bytes = load_be64(entry + kEntrySize),
                                   .logical = load_be64(entry + kEntryLogical)},
                         .partition = load_be32(entry + kEntryPartition)});
    }
    file = file.subspan(block->size_bytes);
  }
  report_.entries = entries.size();
  report_.trailing_bytes = file.size();
  return entries;
}

void TranslationMap::find_owners(const std::vector<Entry>& entries) {
  std::vector<MemoryOwners::Range> claims;
  claims.reserve(entries.size());
  for (const Entry& entry : entries) {
    if (!entry.mapped() || entry.malformed()) continue;
    claims.push_back({.real = entry.range.real,
                      .size_bytes = entry.range.size_bytes,
                      .partition = entry.partition});
  }
  owners_ = MemoryOwners(std::move(claims));
  report_.contested_bytes = owners_.contested_bytes();
}

void TranslationMap::choose_own(std::vector<Entry>& entries, std::optional<uint32_t> partition) {
  std::vector<uint32_t>& partitions = report_.partitions;
  for (const Entry& entry : entries) partitions.push_back(entry.partition);
  std::sort(partitions.begin(), partitions.end());
  partitions.erase(std::unique(partitions.begin(), partitions.end()), partitions.end());
  if (!partition && partitions.size() == 1) partition = partitions.front();
  std::erase_if(entries, [&](const Entry& entry) { return entry.partition != partition; });
  report_.own_entries = entries.size();
}

void TranslationMap::build_ranges(const std::vector<Entry>& entries) {
  std::vector<Range> own;
  own.reserve(entries.size());
  for (const Entry& entry : entries) {
    if (!entry.mapped()) {
      report_.unmapped++;
    } else if (entry.malformed()) {
      report_.malformed++;
    } else {
      own.push_back(entry.range);
    }
  }
  std::sort(own.begin(), own.end(), [](const Range& a, const Range& b) {
    return std::tie(a.real, a.size_bytes, a.logical) < std::tie(b.real, b.size_bytes, b.logical);
  });
  for (const Range& range : own) add(range);
  constexpr uint64_t kPageOffset = 0xfff;
  for (const Range& range : ranges_) {
    report_.mapped_bytes += range.size_bytes;
    if (((range.real | range.logical | range.size_bytes) & kPageOffset) != 0) {
      in_whole_pages_ = false;
    }
  }
}

// Entries arrive in the order of their real addresses, so the last range ends the claimed memory.
// An entry with the same translation extends the last range; another entry keeps only its part
// beyond it.
void TranslationMap::add(Range range) {
  if (ranges_.empty()) {
    ranges_.push_back(range);
    return;
  }
  Range& last = ranges_.back();
  const uint64_t taken_end = last.real + last.size_bytes;
  const uint64_t end = range.real + range.size_bytes;
  const bool agrees = range.logical - last.logical == range.real - last.real;
  if (range.real < taken_end) (agrees ? report_.duplicates : report_.overlaps)++;
  if (agrees && range.real <= taken_end) {
    last.size_bytes = std::max(taken_end, end) - last.real;
    return;
  }
  if (end <= taken_end) return;
  if (range.real < taken_end) {
    const uint64_t taken = taken_end - range.real;
    range.real += taken;
    range.logical += taken;
    range.size_bytes -= taken;
  }
  ranges_.push_back(range);
}

const TranslationMap::Range* TranslationMap::find(RealAddr address) const {
  return find_range(ranges_, address);
}

const TranslationMap::Range* TranslationMap::Cursor::search(RealAddr address) {
  Range& recent = recent_[place_of(address)];
  Gap& gap = recent_gaps_[place_of(address)];
  if (gap.holds(address)) return nullptr;
  if (const Range* const range = map_->find(address)) {
    recent = *range;
    return &recent;
  }
  gap = gap_around(map_->ranges_, address);
  return nullptr;
}

}  // namespace htmtrace

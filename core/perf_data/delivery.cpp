// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/perf_data/delivery.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/budget.h"
#include "core/memory_map/blocks.h"

namespace htmtrace::perf_data {
namespace {

uint64_t end_of(const Chunk& chunk) {
  return chunk.position + chunk.at.size_bytes;
}

class Assembly {
 public:
  Assembly(Delivery& delivery, uint64_t file_bytes, const ReadAt& read, PerfDataTrace& trace)
      : delivery_(delivery), read_(read), trace_(trace), budget_(file_bytes) {}

  void run() {
    tell_flags();
    order_chunks();
    std::sort(delivery_.commits.begin(), delivery_.commits.end());
    const uint64_t end = delivery_.dumps ? end_of_dumps() : ~uint64_t{0};
    trace_.trace = extents(0, end);
    trace_.map = std::move(delivery_.blocks);
    if (delivery_.dumps) take_map_behind(end);
  }

 private:
  void tell_flags() {
    const auto tell = [&](uint64_t count, const char* what) {
      if (count != 0) trace_.missing.push_back(fmt::format("{} {}", count, what));
    };
    tell(delivery_.cut_bytes, "bytes past the end of the file");
    tell(delivery_.truncated, "times the driver cut the trace (AUX flag TRUNCATED)");
    tell(delivery_.partial, "gaps that the driver reports (AUX flag PARTIAL)");
    tell(delivery_.collisions, "times another user disturbed it (AUX flag COLLISION)");
  }

  // Sorts the chunks by position and removes repeated bytes.
  void order_chunks() {
    std::stable_sort(delivery_.chunks.begin(), delivery_.chunks.end(),
                     [](const Chunk& a, const Chunk& b) { return a.position < b.position; });
    uint64_t expected = 0;
    uint64_t gap_bytes = 0;
    uint64_t first_gap = 0;
    for (Chunk chunk : delivery_.chunks) {
      if (end_of(chunk) < chunk.position) continue;  // the end exceeds 64 bits
      if (chunk.position > expected) {
        if (gap_bytes == 0) first_gap = expected;
        gap_bytes += chunk.position - expected;
      } else {
        const uint64_t twice = std::min(expected - chunk.position, chunk.at.size_bytes);
        chunk = {chunk.position + twice, {chunk.at.offset + twice, chunk.at.size_bytes - twice}};
      }
      if (chunk.at.size_bytes == 0) continue;
      expected = end_of(chunk);
      chunks_.push_back(chunk);
    }
    if (gap_bytes != 0) {
      trace_.missing.push_back(
          fmt::format("{} bytes of AUX data, the first at {:#x}", gap_bytes, first_gap));
    }
  }

  // The first driver delivers a number of dumps. Each dump fills the AUX area and has its own AUX
  // record.
  uint64_t end_of_dumps() const {
    if (delivery_.commits.empty()) return 0;
    const uint64_t dump = delivery_.commits.front().second;
    uint64_t bytes = 0;
    if (__builtin_mul_overflow(dump, uint64_t{*delivery_.dumps}, &bytes)) return ~uint64_t{0};
    return bytes;
  }

  // Reads the memory map after the dumps: each AUX record begins with a block.
  void take_map_behind(uint64_t end) {
    uint64_t others = 0;
    for (const auto& [position, size] : delivery_.commits) {
      if (position < end) continue;
      const uint64_t block = map_block_bytes(bytes_at(position, kHtmBlockHeaderBytes), size);
      if (block == 0) others += size;
      for (const FileExtent& piece : extents(position, block)) {
        budget_.take(grown_bytes<FileExtent>());
        trace_.map.push_back(piece);
      }
    }
    if (others != 0) {
      trace_.missing.push_back(
          fmt::format("{} bytes after the trace are not a block of a memory map", others));
    }
  }

  std::vector<std::byte> bytes_at(uint64_t position, uint64_t size) const {
    std::vector<std::byte> bytes;
    for (const FileExtent& piece : extents(position, size)) {
      const size_t before = bytes.size();
      bytes.resize(before + static_cast<size_t>(piece.size_bytes));
      if (read_(piece.offset, std::span(bytes).subspan(before)) != piece.size_bytes) return {};
    }
    return bytes;
  }

  // The file extents of the bytes that are present.
  std::vector<FileExtent> extents(uint64_t position, uint64_t size) const {
    const uint64_t end = size > ~position ? ~uint64_t{0} : position + size;
    auto chunk = std::partition_point(chunks_.begin(), chunks_.end(), [&](const Chunk& before) {
      return end_of(before) <= position;
    });
    std::vector<FileExtent> found;
    for (; chunk != chunks_.end() && chunk->position < end; chunk++) {
      const uint64_t from = std::max(position, chunk->position);
      const uint64_t to = std::min(end, end_of(*chunk));
      found.push_back({chunk->at.offset + (from - chunk->position), to - from});
    }
    return found;
  }

  Delivery& delivery_;
  const ReadAt& read_;
  PerfDataTrace& trace_;
  std::vector<Chunk> chunks_;
  MemoryBudget budget_;
};

}  // namespace

void Delivery::add(const Delivery& other) {
  chunks.insert(chunks.end(), other.chunks.begin(), other.chunks.end());
  commits.insert(commits.end(), other.commits.begin(), other.commits.end());
  blocks.insert(blocks.end(), other.blocks.begin(), other.blocks.end());
  if (other.dumps) dumps = other.dumps;
  cut_bytes += other.cut_bytes;
  truncated += other.truncated;
  partial += other.partial;
  collisions += other.collisions;
}

uint64_t Delivery::trace_bytes() const {
  uint64_t bytes = 0;
  for (const Chunk& chunk : chunks) bytes += chunk.at.size_bytes;
  return bytes;
}

uint64_t map_block_bytes(std::span<const std::byte> begin, uint64_t room) {
  const auto block = parse_htm_block(begin, room, kMemoryEntryBytes);
  return block && !block->truncated() ? block->size_bytes : 0;
}

PerfDataTrace trace_of(const TraceTarget& target, Delivery& delivery, uint64_t file_bytes,
                       const ReadAt& read) {
  PerfDataTrace trace;
  trace.target = target;
  Assembly(delivery, file_bytes, read, trace).run();
  return trace;
}

}  // namespace htmtrace::perf_data

// SPDX-License-Identifier: GPL-2.0-or-later
// Orders the data that the driver delivered for one htm event: trace bytes and memory map.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "core/perf_data/file.h"

namespace htmtrace::perf_data {

// Bytes of the AUX area: their running position in the AUX area and their extent in the file.
struct Chunk {
  uint64_t position = 0;
  FileExtent at;
};

struct Delivery {
  std::vector<Chunk> chunks;
  std::vector<std::pair<uint64_t, uint64_t>> commits;  // position and size of AUX records
  std::vector<FileExtent> blocks;                      // blocks of the memory map
  std::optional<uint32_t> dumps;                       // the first driver's end marker
  uint64_t cut_bytes = 0;                              // bytes that the end of the file cuts off
  // Number of AUX records with each flag.
  uint64_t truncated = 0;
  uint64_t partial = 0;
  uint64_t collisions = 0;

  void add(const Delivery& other);
  uint64_t trace_bytes() const;
};

// The size of a block of the memory map without padding. Returns 0 if the bytes are not the start
// of a block, or if the block does not fit into `room`.
uint64_t map_block_bytes(std::span<const std::byte> begin, uint64_t room);

// Orders `delivery` and separates trace and memory map. Throws Error when the pieces of the map
// overlap so often that the list of them would take too much memory.
PerfDataTrace trace_of(const TraceTarget& target, Delivery& delivery, uint64_t file_bytes,
                       const ReadAt& read);

}  // namespace htmtrace::perf_data

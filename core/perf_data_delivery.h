// SPDX-License-Identifier: GPL-2.0-or-later
// What the driver delivered for one htm event, put in order: trace bytes and memory map.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "core/perf_data.h"

namespace htmtrace::perf_data {

// Bytes of the AUX area: where they were in all that went through it, and where they are in the
// file.
struct Chunk {
  uint64_t position = 0;
  FileExtent at;
};

struct Delivery {
  std::vector<Chunk> chunks;
  std::vector<std::pair<uint64_t, uint64_t>> commits;  // position and size, of AUX records
  std::vector<FileExtent> blocks;                      // of the memory map
  std::optional<uint32_t> dumps;                       // the first driver's end marker
  uint64_t cut_bytes = 0;                              // the file ends before they do
  // AUX records with these flags.
  uint64_t truncated = 0;
  uint64_t partial = 0;
  uint64_t collisions = 0;

  void add(const Delivery& other);
  uint64_t trace_bytes() const;
};

// The size of a block of the memory map without what fills it up; 0 when the bytes begin none, or
// one that does not fit into `room`.
uint64_t map_block_bytes(std::span<const std::byte> begin, uint64_t room);
inline constexpr uint64_t kMapHeaderBytes = 32;  // htm-translation(5)

// Puts `delivery` in order and takes it apart.
PerfDataTrace trace_of(const TraceTarget& target, Delivery& delivery, const ReadAt& read);

}  // namespace htmtrace::perf_data

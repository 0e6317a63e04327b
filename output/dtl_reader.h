// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a dispatch trace log's file, htmtrace-dtl(5): block by block, also one that was not
// finished, around damage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/dtl_blocks.h"
#include "core/dtl_entry.h"
#include "output/input_file.h"

namespace htmtrace {

class DtlReader {
 public:
  // Throws Error when the file does not begin with a block.
  explicit DtlReader(InputFile file);

  // What a block must hold to be unpacked; others are passed by.
  struct Wanted {
    std::vector<int> cpus;  // empty: all
    uint64_t from = 0;      // timebase, both included
    uint64_t to = UINT64_MAX;
  };

  struct Block {
    int cpu = 0;
    std::span<const DtlEntry> entries;  // dead with the next block
  };

  // The next block of entries that is wanted; nothing at the end. Its entries are those within the
  // wanted time. Throws Error when the file cannot be read.
  std::optional<Block> next(const Wanted& wanted);

  // Those of `entries` that are within the wanted time.
  static std::span<const DtlEntry> within(std::span<const DtlEntry> entries, const Wanted& wanted);

  // What has been read so far. The clock is in front of the first entries.
  const DtlClock& clock() const { return clock_; }
  const std::string& start_text() const { return start_text_; }
  // What the recording said at its end; empty when that was not reached.
  const std::string& end_text() const { return end_text_; }
  bool ended() const { return ended_; }
  uint64_t damaged_bytes() const { return damaged_bytes_; }
  std::optional<uint64_t> first_damage() const { return first_damage_; }  // offset
  // Of all CPUs, wanted or not; those in damaged blocks are not among them.
  uint64_t entries() const { return entries_; }

 private:
  bool fill(size_t wanted);
  void drop(size_t length);
  void damaged(size_t length);
  std::optional<DtlBlockHeader> next_header();
  bool unpack(const DtlBlockHeader& header, std::span<const std::byte> payload,
              const Wanted& wanted);

  InputFile file_;
  std::vector<std::byte> buffer_;
  size_t begin_ = 0, end_ = 0;  // of what has been read and not used
  uint64_t offset_ = 0;         // of begin_ in the file
  std::vector<DtlEntry> entries_buffer_;
  std::span<const DtlEntry> chosen_;
  DtlClock clock_;
  std::string start_text_, end_text_;
  bool ended_ = false;
  uint64_t damaged_bytes_ = 0;
  std::optional<uint64_t> first_damage_;
  uint64_t entries_ = 0;
};

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/dtl_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "core/error.h"

namespace htmtrace {
namespace {

constexpr size_t kBufferBytes = 2 * (kMostDtlPayload + kDtlHeaderBytes);

std::string block_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

DtlReader::DtlReader(InputFile file)
    : file_(std::move(file)), buffer_(kBufferBytes), entries_buffer_(kMostDtlEntries) {
  if (fill(kDtlHeaderBytes) && parse_dtl_header({buffer_.data(), kDtlHeaderBytes})) return;
  throw Error("this is no recording of the dispatch trace log")
      .on("file: " + file_.name())
      .hint("make one with: htmtrace dtl -o FILE");
}

// True when so many bytes are there.
bool DtlReader::fill(size_t wanted) {
  while (end_ - begin_ < wanted) {
    if (buffer_.size() - begin_ < wanted) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    const size_t got = file_.read(std::span(buffer_).subspan(end_));
    if (got == 0) return false;
    end_ += got;
  }
  return true;
}

void DtlReader::drop(size_t length) {
  begin_ += length;
  offset_ += length;
}

void DtlReader::damaged(size_t length) {
  if (!first_damage_) first_damage_ = offset_;
  damaged_bytes_ += length;
  drop(length);
}

// The header of the next block of which everything is there. Nothing at the end.
std::optional<DtlBlockHeader> DtlReader::next_header() {
  while (fill(kDtlHeaderBytes)) {
    const auto header = parse_dtl_header({buffer_.data() + begin_, kDtlHeaderBytes});
    if (header && fill(kDtlHeaderBytes + header->payload_bytes)) return header;
    damaged(1);
  }
  damaged_bytes_ += end_ - begin_;
  if (end_ != begin_ && !first_damage_) first_damage_ = offset_;
  begin_ = end_;
  return std::nullopt;
}

std::optional<DtlReader::Block> DtlReader::next(const Wanted& wanted) {
  while (const auto header = next_header()) {
    const std::span payload(buffer_.data() + begin_ + kDtlHeaderBytes, header->payload_bytes);
    if (!dtl_payload_intact(*header, payload)) {
      // Bytes may be missing, so that the next block begins before this one's end.
      damaged(1);
      continue;
    }
    bool chosen = false;
    switch (header->kind) {
      case DtlBlockKind::kStart:
        start_text_ = block_text(payload);
        break;
      case DtlBlockKind::kClock:
        if (const auto clock = parse_dtl_clock(payload)) {
          clock_ = {.boot_timebase = clock->boot_timebase,
                    .ticks_per_second = clock->ticks_per_second};
        }
        break;
      case DtlBlockKind::kEntries:
        chosen = unpack(*header, payload, wanted);
        break;
      case DtlBlockKind::kEnd:
        end_text_ = block_text(payload);
        ended_ = true;
        break;
    }
    drop(kDtlHeaderBytes + header->payload_bytes);
    if (chosen) return Block{header->cpu, chosen_};
  }
  return std::nullopt;
}

bool DtlReader::unpack(const DtlBlockHeader& header, std::span<const std::byte> payload,
                       const Wanted& wanted) {
  entries_ += header.entries;
  if (header.last_timebase < wanted.from || header.first_timebase > wanted.to) return false;
  if (!wanted.cpus.empty() && std::ranges::find(wanted.cpus, header.cpu) == wanted.cpus.end()) {
    return false;
  }
  const std::span unpacked = std::span(entries_buffer_).first(header.entries);
  if (!unpack_dtl_entries(payload, unpacked)) {
    // The sum was right, so its writer was not.
    entries_ -= header.entries;
    if (!first_damage_) first_damage_ = offset_;
    damaged_bytes_ += kDtlHeaderBytes + payload.size();
    return false;
  }
  chosen_ = within(unpacked, wanted);
  return !chosen_.empty();
}

std::span<const DtlEntry> DtlReader::within(std::span<const DtlEntry> entries,
                                            const Wanted& wanted) {
  while (!entries.empty() && entries.front().timebase < wanted.from) entries = entries.subspan(1);
  while (!entries.empty() && entries.back().timebase > wanted.to) {
    entries = entries.first(entries.size() - 1);
  }
  return entries;
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/recording/dispatches.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/error.h"

namespace htmtrace {
namespace {

constexpr size_t kBufferBytes = 2 * (kMostDtlPayload + kDtlHeaderBytes);
// Bytes that are read beyond the required bytes while most blocks are skipped.
constexpr size_t kReadAhead = 512;

std::string block_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool wants(const DtlReader::Wanted& wanted, int cpu) {
  return wanted.cpus.empty() || std::ranges::find(wanted.cpus, cpu) != wanted.cpus.end();
}

size_t block_bytes(const DtlBlockHeader& header) {
  return kDtlHeaderBytes + header.payload_bytes;
}

}  // namespace

DtlReader::DtlReader(InputFile file, DtlStatisticsUse statistics)
    : file_(std::move(file)),
      use_(file_.size_bytes() ? statistics : DtlStatisticsUse::kNone),
      buffer_(kBufferBytes),
      columns_(std::make_unique_for_overwrite<DtlColumns>()),
      entries_buffer_(kMostDtlEntries) {
  if (fill(kDtlHeaderBytes) && parse_dtl_header({buffer_.data(), kDtlHeaderBytes})) return;
  throw Error("this is not a recording of the dispatch trace log")
      .on("file: " + file_.name())
      .hint("make one with: htmtrace dtl -o FILE");
}

std::optional<uint64_t> DtlReader::realtime_ns(uint64_t timebase) const {
  if (!clock_block_ || clock_block_->realtime_ns == 0) return std::nullopt;
  // DtlClock has no negative times, so convert the distance from the time of the block.
  const DtlClock since{.boot_timebase = 0, .ticks_per_second = clock_block_->ticks_per_second};
  const uint64_t there = clock_block_->timebase;
  const auto distance = since.nanoseconds(timebase >= there ? timebase - there : there - timebase);
  if (!distance) return std::nullopt;
  return timebase >= there
             ? clock_block_->realtime_ns + *distance
             : clock_block_->realtime_ns - std::min(clock_block_->realtime_ns, *distance);
}

std::string DtlReader::start_value(std::string_view name) const {
  for (size_t at = 0; at < start_text_.size();) {
    const size_t end = std::min(start_text_.find('\n', at), start_text_.size());
    const std::string_view line = std::string_view(start_text_).substr(at, end - at);
    if (line.starts_with(name) && line.size() > name.size() && line[name.size()] == ' ') {
      return std::string(line.substr(name.size() + 1));
    }
    at = end + 1;
  }
  return {};
}

// Returns true if this many bytes are buffered.
bool DtlReader::fill(size_t wanted) {
  while (end_ - begin_ < wanted) {
    if (buffer_.size() - begin_ < wanted) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    std::span<std::byte> room = std::span(buffer_).subspan(end_);
    // Skipped bytes are not read.
    if (use_ == DtlStatisticsUse::kTrust) {
      room = room.first(std::min(room.size(), wanted - (end_ - begin_) + kReadAhead));
    }
    const size_t got = file_.read(room);
    if (got == 0) return false;
    end_ += got;
  }
  return true;
}

void DtlReader::drop(size_t length) {
  offset_ += length;
  if (offset_ > furthest_) checks_.add_input(offset_ - std::exchange(furthest_, offset_));
  if (length <= end_ - begin_) {
    begin_ += length;
    return;
  }
  file_.go_to(offset_);
  begin_ = end_ = 0;
}

void DtlReader::damaged(size_t length) {
  if (!first_damage_) first_damage_ = offset_;
  damaged_bytes_ += length;
  drop(length);
}

// Returns true if the file holds the complete block.
bool DtlReader::whole(const DtlBlockHeader& header) {
  if (!passes_by(header)) return fill(block_bytes(header));
  return block_bytes(header) <= *file_.size_bytes() - offset_;
}

bool DtlReader::passes_by(const DtlBlockHeader& header) const {
  return use_ == DtlStatisticsUse::kTrust && header.kind == DtlBlockKind::kEntries && !suspect_;
}

// Returns the header of the next complete block, or nothing at the end.
std::optional<DtlBlockHeader> DtlReader::next_header() {
  do {
    while (fill(kDtlHeaderBytes)) {
      const auto header = parse_dtl_header({buffer_.data() + begin_, kDtlHeaderBytes});
      if (header && whole(*header)) return header;
      if (!go_back()) damaged(1);
    }
  } while (end_ != begin_ && go_back());
  damaged_bytes_ += end_ - begin_;
  if (end_ != begin_ && !first_damage_) first_damage_ = offset_;
  begin_ = end_;
  return std::nullopt;
}

// No block follows the skipped block, so bytes of the skipped block may be missing. Returns true if
// the reader now reads that block.
bool DtlReader::go_back() {
  if (!unchecked_) return false;
  const Place place = *unchecked_;
  unchecked_.reset();
  entries_ -= place.header.entries;
  if (const auto group = groups_.find(place.header.cpu); group != groups_.end()) {
    if (group->second.places.back().offset == place.offset) {
      group->second.places.pop_back();
      group->second.entries -= place.header.entries;
    }
    if (group->second.places.empty()) groups_.erase(group);
  }
  file_.go_to(place.offset);
  offset_ = place.offset;
  begin_ = end_ = 0;
  suspect_ = true;
  return true;
}

std::optional<DtlReader::Block> DtlReader::next(const Wanted& wanted) {
  for (;;) {
    find_times(wanted);
    if (!delayed_.empty()) {
      const Place place = delayed_.front();
      delayed_.pop_front();
      if (!unpack_at(place)) {
        lost(place);
      } else if (const auto block = within_time(place.header.cpu)) {
        return block;
      }
    } else if (const auto header = next_header()) {
      if (const auto block = take_block(*header, wanted)) return block;
    } else if (groups_.empty()) {
      return std::nullopt;
    } else {
      for (const auto& [cpu, group] : groups_) unpack_later(group);
      groups_.clear();
    }
  }
}

std::optional<DtlReader::Block> DtlReader::take_block(const DtlBlockHeader& header,
                                                      const Wanted& wanted) {
  if (passes_by(header)) {
    pass_by(header, wanted);
    drop(block_bytes(header));
    return std::nullopt;
  }
  suspect_ = false;
  unchecked_.reset();
  const std::span payload(buffer_.data() + begin_ + kDtlHeaderBytes, header.payload_bytes);
  // Many headers in a damaged part may each announce a large payload.
  if (!checks_.spend(header.payload_bytes)) {
    damaged(block_bytes(header));
    return std::nullopt;
  }
  if (!dtl_payload_intact(header, payload)) {
    // Bytes may be missing, so the next block may begin before the end of this block.
    damaged(1);
    return std::nullopt;
  }
  const auto block = take_payload(header, payload, wanted);
  drop(block_bytes(header));
  return block;
}

std::optional<DtlReader::Block> DtlReader::take_payload(const DtlBlockHeader& header,
                                                        std::span<const std::byte> payload,
                                                        const Wanted& wanted) {
  switch (header.kind) {
    case DtlBlockKind::kStart:
      start_text_ = block_text(payload);
      break;
    case DtlBlockKind::kClock:
      if (const auto clock = parse_dtl_clock(payload)) {
        clock_block_ = clock;
        clock_ = {.boot_timebase = clock->boot_timebase,
                  .ticks_per_second = clock->ticks_per_second};
      }
      break;
    case DtlBlockKind::kEntries:
      if (use_ != DtlStatisticsUse::kNone) {
        pass_by(header, wanted);
        unchecked_.reset();
        break;
      }
      entries_ += header.entries;
      if (header.last_timebase < from_ || header.first_timebase > to_) break;
      if (!wants(wanted, header.cpu)) break;
      if (!unpack(header, payload)) {
        // The checksum was correct, so the writer made the error.
        lost({header, offset_});
      } else {
        return within_time(header.cpu);
      }
      break;
    case DtlBlockKind::kStatistics:
      if (use_ != DtlStatisticsUse::kNone) {
        return take_statistics(header, payload, wanted);
      }
      break;
    case DtlBlockKind::kSwitches:
      if (wanted.tasks && wants(wanted, header.cpu)) return take_switches(header, payload);
      break;
    case DtlBlockKind::kNames:
      if (!wanted.tasks) break;
      names_ = block_text(payload);
      return Block{.cpu = 0, .entries = {}, .names = names_};
    case DtlBlockKind::kEnd:
      recording_end_ = parse_dtl_end(payload);
      break;
  }
  return std::nullopt;
}

std::optional<DtlReader::Block> DtlReader::take_switches(const DtlBlockHeader& header,
                                                         std::span<const std::byte> payload) {
  if (parse_dtl_switches(header, payload, switches_)) {
    return Block{.cpu = header.cpu, .entries = {}, .switches = &switches_};
  }
  // The checksum was correct, so the writer made the error.
  damaged_bytes_ += block_bytes(header);
  first_damage_ = std::min(first_damage_.value_or(UINT64_MAX), offset_);
  return std::nullopt;
}

// ---------------------------------------------------------------------------- statistics

void DtlReader::pass_by(const DtlBlockHeader& header, const Wanted& wanted) {
  entries_ += header.entries;
  unchecked_ = Place{header, offset_};
  if (!wants(wanted, header.cpu)) return;
  Group& group = groups_[header.cpu];
  group.places.push_back(*unchecked_);
  group.entries += header.entries;
  // A larger group means that its statistics were damaged.
  constexpr size_t kMostPlaces = kDtlGroupEntries + kMostDtlEntries;
  if (group.places.size() <= kMostPlaces && group.entries <= kMostPlaces) return;
  unpack_later(group);
  groups_.erase(header.cpu);
}

void DtlReader::unpack_later(const Group& group) {
  for (const Place& place : group.places) {
    if (place.header.last_timebase < from_ || place.header.first_timebase > to_) continue;
    delayed_.push_back(place);
  }
  unchecked_.reset();
}

bool DtlReader::one_interval(uint64_t lowest, uint64_t highest, const Wanted& wanted) const {
  if (!wanted.intervals || clock_.ticks_per_second == 0) return true;
  return wanted.intervals->of(lowest, clock_) == wanted.intervals->of(highest, clock_);
}

// Returns the statistics of the group that precedes them. The group must be unpacked instead if
// blocks are missing, if the requested time covers only some blocks, or if they span several
// intervals.
std::optional<DtlReader::Block> DtlReader::take_statistics(const DtlBlockHeader& header,
                                                           std::span<const std::byte> payload,
                                                           const Wanted& wanted) {
  const auto found = groups_.find(header.cpu);
  if (found == groups_.end()) return std::nullopt;
  const Group group = std::move(found->second);
  groups_.erase(found);
  uint64_t lowest = UINT64_MAX, highest = 0;
  for (const Place& place : group.places) {
    lowest = std::min(lowest, place.header.first_timebase);
    highest = std::max(highest, place.header.last_timebase);
  }
  if (highest < from_ || lowest > to_) return std::nullopt;
  const bool fit = lowest >= from_ && highest <= to_ && one_interval(lowest, highest, wanted) &&
                   statistics_.unpack(payload) && statistics_.entries() == group.entries &&
                   statistics_.blocks() == group.places.size() && header.first_timebase == lowest &&
                   header.last_timebase == highest &&
                   statistics_.ticks_per_second() == clock_.ticks_per_second;
  const bool check = use_ == DtlStatisticsUse::kCheck;
  const DtlStatistics* statistics = &statistics_;
  if (fit && check) statistics = make_statistics(group, payload);
  if (!fit || statistics == nullptr) {
    unpack_later(group);
    return std::nullopt;
  }
  if (!check) passed_by_ += group.entries;
  return Block{.cpu = header.cpu, .entries = {}, .statistics = statistics};
}

// Computes the statistics from the entries. Returns null if the entries allow no exact statistics.
const DtlStatistics* DtlReader::make_statistics(const Group& group,
                                                std::span<const std::byte> payload) {
  made_.clear();
  for (const Place& place : group.places) {
    if (!unpack_at(place)) return nullptr;
    made_.add(*columns_, {place.header.first_timebase, place.header.last_timebase},
              clock_.ticks_per_second);
  }
  const DtlStatistics& made = made_.statistics();
  std::vector<std::byte> packed;
  made.pack(packed);
  if (!std::ranges::equal(packed, payload)) contradictions_++;
  return made_.exact() ? &made : nullptr;
}

// ---------------------------------------------------------------------------- entries

void DtlReader::find_times(const Wanted& wanted) {
  if (clock_.ticks_per_second == 0) return;
  if (wanted.from_ns) from_ = clock_.timebase_at(*wanted.from_ns);
  if (wanted.to_ns && *wanted.to_ns != UINT64_MAX) {
    to_ = clock_.timebase_at(*wanted.to_ns + 1) - 1;
  }
}

bool DtlReader::unpack_at(const Place& place) {
  delayed_bytes_.resize(block_bytes(place.header));
  const size_t got = file_.read_at(place.offset, delayed_bytes_);
  const auto payload = std::span<const std::byte>(delayed_bytes_).subspan(kDtlHeaderBytes);
  return got == delayed_bytes_.size() && dtl_payload_intact(place.header, payload) &&
         unpack(place.header, payload);
}

// Unpacks into columns_.
bool DtlReader::unpack(const DtlBlockHeader& header, std::span<const std::byte> payload) {
  return unpack_dtl_entries(payload, header.entries, *columns_);
}

// Removes a damaged block whose entries were already counted.
void DtlReader::lost(const Place& place) {
  entries_ -= place.header.entries;
  first_damage_ = std::min(first_damage_.value_or(UINT64_MAX), place.offset);
  damaged_bytes_ += block_bytes(place.header);
}

// Returns the entries of columns_ within the requested time, or nothing if no entry is within.
std::optional<DtlReader::Block> DtlReader::within_time(int cpu) {
  const std::span all = std::span(entries_buffer_).first(columns_->size);
  columns_->copy_to(all);
  std::span<const DtlEntry> chosen = all;
  while (!chosen.empty() && chosen.front().timebase < from_) chosen = chosen.subspan(1);
  while (!chosen.empty() && chosen.back().timebase > to_) chosen = chosen.first(chosen.size() - 1);
  if (chosen.empty()) return std::nullopt;
  return Block{cpu, chosen, chosen.size() == all.size() ? columns_.get() : nullptr};
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/dispatch_log/blocks.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "core/base/big_endian.h"
#include "core/base/crc32c.h"
#include "core/base/packed_numbers.h"

namespace htmtrace {
namespace {

constexpr uint32_t kDtlMagic = 0x48444c31;  // "HDL1"

// Offsets in a header. Numbers are big-endian, like the numbers of the log.
constexpr size_t kKindOffset = 4;
constexpr size_t kCpuOffset = 6;
constexpr size_t kPayloadOffset = 8;
constexpr size_t kEntriesOffset = 12;
constexpr size_t kFirstOffset = 16;
constexpr size_t kLastOffset = 24;
constexpr size_t kPayloadCrcOffset = 32;
constexpr size_t kHeaderCrcOffset = 36;

constexpr size_t kClockBytes = 40;
constexpr size_t kUsualEntryBytes = 10;

// The first line of the end: the recorder's exit status.
constexpr std::string_view kStatusWord = "status ";

// Statistics larger than 1/16 of their entries are omitted: such a group is small, and its entries
// unpack quickly.
constexpr size_t kStatisticsPart = 16;

// Fills in the header before the present payload.
std::vector<std::byte> finished(std::vector<std::byte> block, DtlBlockHeader header) {
  const auto payload = std::span<const std::byte>(block).subspan(kDtlHeaderBytes);
  std::byte* to = block.data();
  store_be32(to, kDtlMagic);
  store_be32(to + kKindOffset, static_cast<uint32_t>(header.kind) << 24 | header.cpu);
  store_be32(to + kPayloadOffset, static_cast<uint32_t>(payload.size()));
  store_be32(to + kEntriesOffset, header.entries);
  store_be64(to + kFirstOffset, header.first_timebase);
  store_be64(to + kLastOffset, header.last_timebase);
  store_be32(to + kPayloadCrcOffset, crc32c(payload));
  store_be32(to + kHeaderCrcOffset, crc32c({to, kHeaderCrcOffset}));
  return block;
}

}  // namespace

std::vector<std::byte> make_dtl_text_block(DtlBlockKind kind, std::string_view text) {
  std::vector<std::byte> block(kDtlHeaderBytes);
  const auto bytes = std::as_bytes(std::span(text.substr(0, kMostDtlPayload)));
  block.insert(block.end(), bytes.begin(), bytes.end());
  return finished(std::move(block), {.kind = kind});
}

std::vector<std::byte> make_dtl_end_block(const DtlEnd& end) {
  return make_dtl_text_block(
      DtlBlockKind::kEnd,
      std::string(kStatusWord) + std::to_string(end.status.value()) + "\n" + end.text);
}

std::vector<std::byte> make_dtl_clock_block(const DtlClockBlock& clock) {
  std::vector<std::byte> block(kDtlHeaderBytes + kClockBytes);
  std::byte* to = block.data() + kDtlHeaderBytes;
  for (const uint64_t value : {clock.boot_timebase, clock.ticks_per_second, clock.timebase,
                               clock.monotonic_ns, clock.realtime_ns}) {
    store_be64(to, value);
    to += sizeof(value);
  }
  return finished(std::move(block), {.kind = DtlBlockKind::kClock});
}

std::vector<std::byte> make_dtl_statistics_block(uint16_t cpu, const DtlStatistics& statistics) {
  std::vector<std::byte> block(kDtlHeaderBytes);
  statistics.pack(block);
  return finished(std::move(block), {.kind = DtlBlockKind::kStatistics,
                                     .cpu = cpu,
                                     .first_timebase = statistics.lowest_timebase(),
                                     .last_timebase = statistics.highest_timebase()});
}

std::vector<std::byte> make_dtl_entries_block(uint16_t cpu, std::span<const DtlEntry> entries) {
  DtlColumns columns;
  const DtlTimes times = columns.assign(entries);
  DtlPackHints hints;
  return make_dtl_entries_block(cpu, columns, times, hints);
}

std::vector<std::byte> make_dtl_entries_block(uint16_t cpu, const DtlColumns& entries,
                                              const DtlTimes& times, DtlPackHints& hints) {
  std::vector<std::byte> block(kDtlHeaderBytes);
  block.reserve(kDtlHeaderBytes + entries.size * kUsualEntryBytes);
  pack_dtl_entries(entries, block, hints);
  return finished(std::move(block), {.kind = DtlBlockKind::kEntries,
                                     .cpu = cpu,
                                     .entries = static_cast<uint32_t>(entries.size),
                                     .first_timebase = times.lowest,
                                     .last_timebase = times.highest});
}

std::vector<std::byte> make_dtl_switches_block(uint16_t cpu, std::span<const DtlSwitch> switches,
                                               uint64_t until_ns) {
  std::vector<uint64_t> since, tasks;
  uint64_t before = switches.front().ns;
  for (const DtlSwitch& each : switches) {
    since.push_back(each.ns - before);
    before = each.ns;
    tasks.push_back(each.task.key());
  }
  std::vector<std::byte> block(kDtlHeaderBytes);
  pack_numbers(since, block);
  pack_repeated(tasks, block);
  return finished(std::move(block), {.kind = DtlBlockKind::kSwitches,
                                     .cpu = cpu,
                                     .entries = static_cast<uint32_t>(switches.size()),
                                     .first_timebase = switches.front().ns,
                                     .last_timebase = until_ns});
}

// A block covers the time up to the first switch of the next block.
void add_dtl_switches(uint16_t cpu, const DtlSwitches& part, std::vector<std::byte>& to) {
  std::span<const DtlSwitch> left = part.switches;
  while (!left.empty()) {
    const auto now = left.first(std::min(left.size(), kMostDtlEntries));
    left = left.subspan(now.size());
    const auto block =
        make_dtl_switches_block(cpu, now, left.empty() ? part.until_ns : left.front().ns);
    to.insert(to.end(), block.begin(), block.end());
  }
}

void add_dtl_names(std::string_view lines, std::vector<std::byte>& to) {
  while (!lines.empty()) {
    const size_t end =
        lines.size() <= kMostDtlPayload ? lines.size() : lines.rfind('\n', kMostDtlPayload - 1) + 1;
    const auto block = make_dtl_text_block(DtlBlockKind::kNames, lines.substr(0, end));
    to.insert(to.end(), block.begin(), block.end());
    lines.remove_prefix(end);
  }
}

void DtlCpuBlocks::add(std::span<const DtlEntry> entries, uint64_t ticks_per_second,
                       std::vector<std::byte>& to) {
  DtlColumns columns;
  const DtlTimes times = columns.assign(entries);
  const auto block = make_dtl_entries_block(cpu_, columns, times, hints_);
  to.insert(to.end(), block.begin(), block.end());
  group_bytes_ += block.size();
  group_.add(columns, times, ticks_per_second);
  if (group_.entries() >= enough_) finish(to);
}

void DtlCpuBlocks::finish(std::vector<std::byte>& to) {
  if (group_.entries() != 0 && group_.exact()) {
    const auto block = make_dtl_statistics_block(cpu_, group_.statistics());
    if (block.size() <= group_bytes_ / kStatisticsPart) {
      to.insert(to.end(), block.begin(), block.end());
    }
  }
  group_.clear();
  group_bytes_ = 0;
}

bool is_dtl_recording(std::span<const std::byte> first_bytes) {
  return first_bytes.size() >= kDtlMagicBytes && load_be32(first_bytes.data()) == kDtlMagic;
}

std::optional<DtlBlockHeader> parse_dtl_header(std::span<const std::byte> bytes) {
  if (bytes.size() < kDtlHeaderBytes || !is_dtl_recording(bytes)) return std::nullopt;
  if (load_be32(bytes.data() + kHeaderCrcOffset) != crc32c(bytes.first(kHeaderCrcOffset))) {
    return std::nullopt;
  }
  DtlBlockHeader header;
  header.kind = static_cast<DtlBlockKind>(bytes[kKindOffset]);
  header.cpu = static_cast<uint16_t>(std::to_integer<unsigned>(bytes[kCpuOffset]) << 8 |
                                     std::to_integer<unsigned>(bytes[kCpuOffset + 1]));
  header.payload_bytes = load_be32(bytes.data() + kPayloadOffset);
  header.entries = load_be32(bytes.data() + kEntriesOffset);
  header.first_timebase = load_be64(bytes.data() + kFirstOffset);
  header.last_timebase = load_be64(bytes.data() + kLastOffset);
  header.payload_crc = load_be32(bytes.data() + kPayloadCrcOffset);
  if (header.payload_bytes > kMostDtlPayload || header.entries > kMostDtlEntries) {
    return std::nullopt;
  }
  return header;
}

bool dtl_payload_intact(const DtlBlockHeader& header, std::span<const std::byte> payload) {
  return payload.size() == header.payload_bytes && crc32c(payload) == header.payload_crc;
}

DtlEnd parse_dtl_end(std::span<const std::byte> payload) {
  const std::string_view text(reinterpret_cast<const char*>(payload.data()), payload.size());
  const size_t line_end = text.find('\n');
  if (line_end == std::string_view::npos) return {};
  DtlEnd end{.status = {}, .text = std::string(text.substr(line_end + 1))};
  std::string_view line = text.substr(0, line_end);
  if (!line.starts_with(kStatusWord)) return end;
  line.remove_prefix(kStatusWord.size());
  int status = 0;
  const auto [after, failure] = std::from_chars(line.data(), line.data() + line.size(), status);
  if (failure == std::errc() && after == line.data() + line.size()) end.status = status;
  return end;
}

std::optional<DtlClockBlock> parse_dtl_clock(std::span<const std::byte> payload) {
  if (payload.size() < kClockBytes) return std::nullopt;
  const auto word = [&](size_t index) {
    return load_be64(payload.data() + index * sizeof(uint64_t));
  };
  return DtlClockBlock{.boot_timebase = word(0),
                       .ticks_per_second = word(1),
                       .timebase = word(2),
                       .monotonic_ns = word(3),
                       .realtime_ns = word(4)};
}

bool parse_dtl_switches(const DtlBlockHeader& header, std::span<const std::byte> payload,
                        DtlSwitches& to) {
  std::vector<uint64_t> since(header.entries), tasks(header.entries);
  NumberReader reader(payload);
  reader.numbers(since);
  reader.repeated(tasks);
  if (since.empty() || !reader.ok() || !reader.at_end()) return false;
  to.switches.clear();
  to.until_ns = header.last_timebase;
  uint64_t ns = header.first_timebase;
  for (size_t i = 0; i < since.size(); i++) {
    if (ns > to.until_ns || since[i] > to.until_ns - ns) return false;
    ns += since[i];
    to.switches.push_back({ns, DtlTask::of_key(tasks[i])});
  }
  return true;
}

}  // namespace htmtrace

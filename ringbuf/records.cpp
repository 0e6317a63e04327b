// SPDX-License-Identifier: GPL-2.0-or-later
#include "ringbuf/records.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <cstring>

namespace htmtrace {
namespace {

// IDENTIFIER, IP, TID (two 32-bit words), TIME, CPU (two 32-bit words).
constexpr size_t kFixedSampleBytes = 5 * sizeof(uint64_t);

template <typename T>
T load(std::span<const std::byte> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

// hw_id: kind in bits 56-63; an error's operation in 48-55, errno in 32-47, return code in 0-31.
constexpr unsigned kKindShift = 56;
constexpr uint64_t kValueMask = (uint64_t{1} << kKindShift) - 1;
constexpr unsigned kOperationShift = 48;
constexpr unsigned kErrnoShift = 32;
constexpr unsigned kWhyShift = 48;
constexpr uint64_t kTimeMask = (uint64_t{1} << kWhyShift) - 1;

}  // namespace

std::optional<AuxRecord> parse_aux(std::span<const std::byte> body) {
  if (body.size() < 3 * sizeof(uint64_t)) return std::nullopt;
  return AuxRecord{load<uint64_t>(body, 0), load<uint64_t>(body, 8), load<uint64_t>(body, 16)};
}

std::optional<uint64_t> parse_lost(std::span<const std::byte> body) {
  if (body.size() < 2 * sizeof(uint64_t)) return std::nullopt;
  return load<uint64_t>(body, sizeof(uint64_t));
}

std::optional<MappedFile> parse_mapped_file(const Record& record) {
  // The fields: pid and tid, address, length, offset, device, inode, generation, protection, flags.
  constexpr size_t kAddress = 8, kLength = 16, kOffset = 24, kMajor = 32, kMinor = 36, kInode = 40,
                   kProtection = 56, kFlags = 60, kName = 64;
  if (record.type != PERF_RECORD_MMAP2 || record.body.size() <= kName ||
      (record.misc & PERF_RECORD_MISC_MMAP_BUILD_ID) != 0) {
    return std::nullopt;
  }
  const auto text = record.body.subspan(kName);
  const auto end = std::find(text.begin(), text.end(), std::byte{0});
  return MappedFile{.address = load<uint64_t>(record.body, kAddress),
                    .bytes = load<uint64_t>(record.body, kLength),
                    .offset = load<uint64_t>(record.body, kOffset),
                    .device_major = load<uint32_t>(record.body, kMajor),
                    .device_minor = load<uint32_t>(record.body, kMinor),
                    .inode = load<uint64_t>(record.body, kInode),
                    .protection = load<uint32_t>(record.body, kProtection),
                    .flags = load<uint32_t>(record.body, kFlags),
                    .name = {reinterpret_cast<const char*>(text.data()),
                             static_cast<size_t>(end - text.begin())}};
}

std::optional<Fork> parse_fork(const Record& record) {
  // The fields: pid, ppid, tid, ptid, time.
  constexpr size_t kParent = 4;
  if (record.type != PERF_RECORD_FORK || record.body.size() < 2 * sizeof(uint32_t)) {
    return std::nullopt;
  }
  return Fork{.process = load<uint32_t>(record.body, 0),
              .parent = load<uint32_t>(record.body, kParent)};
}

std::optional<std::span<const std::byte>> parse_raw(std::span<const std::byte> body) {
  if (body.size() < kFixedSampleBytes + sizeof(uint32_t)) return std::nullopt;
  const auto size = load<uint32_t>(body, kFixedSampleBytes);
  const auto payload = body.subspan(kFixedSampleBytes + sizeof(uint32_t));
  if (size > payload.size()) return std::nullopt;
  return payload.first(size);
}

std::optional<uint32_t> parse_end_marker(std::span<const std::byte> payload) {
  if (payload.size() != sizeof(uint32_t)) return std::nullopt;
  return load<uint32_t>(payload, 0);
}

std::optional<Announcement> parse_announcement(std::span<const std::byte> body) {
  if (body.size() < sizeof(uint64_t)) return std::nullopt;
  const auto id = load<uint64_t>(body, 0);
  Announcement said;
  switch (id >> kKindShift) {
    case 1:
    case 2:
    case 3:
    case 4:
      said.kind = static_cast<Announcement::Kind>(id >> kKindShift);
      said.bytes = id & kValueMask;
      return said;
    case 5:
      said.operation = static_cast<uint8_t>(id >> kOperationShift);
      said.error_number = static_cast<uint16_t>(id >> kErrnoShift);
      said.return_code = static_cast<int32_t>(id);
      return said;
    case 6:
    case 7:
      said.kind = static_cast<Announcement::Kind>(id >> kKindShift);
      said.why = static_cast<uint8_t>(id >> kWhyShift);
      said.untraced_ns = id & kTimeMask;
      return said;
    default:
      return std::nullopt;
  }
}

}  // namespace htmtrace

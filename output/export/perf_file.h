// SPDX-License-Identifier: GPL-2.0-or-later
// Parts of perf.data files, which htmtrace writes in little-endian byte order. Layouts:
// tools/perf/Documentation/perf.data-file-format.txt and include/uapi/linux/perf_event.h of Linux.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace htmtrace::perf_file {

using FileBytes = std::vector<std::byte>;

inline constexpr size_t kHeaderBytes = 104;
// The size of perf_event_attr in Linux 5.5, which older readers accept, too (PERF_ATTR_SIZE_VER6).
inline constexpr size_t kAttributeBytes = 120;
inline constexpr size_t kStringUnit = 64;
inline constexpr size_t kRecordHeaderBytes = 8;
// Sizes have 16 bits, and are multiples of 8.
inline constexpr size_t kMostRecordBytes = 65528;

// Bits of enum perf_event_sample_format.
inline constexpr uint64_t kSampleIp = 1 << 0, kSampleTid = 1 << 1, kSampleTime = 1 << 2,
                          kSampleAddress = 1 << 3, kSampleCallChain = 1 << 5, kSampleCpu = 1 << 7,
                          kSamplePeriod = 1 << 8, kSampleBranchStack = 1 << 11,
                          kSampleDataSource = 1 << 15, kSampleIdentifier = 1 << 16;
// Bits of perf_event_attr.
inline constexpr uint64_t kDisabled = 1 << 0, kMmap = 1 << 8, kCommEvents = 1 << 9,
                          kMmapData = 1 << 17, kSampleIdAll = 1 << 18, kMmap2 = 1 << 23;
// Offset of perf_event_attr::branch_sample_type.
inline constexpr size_t kBranchSampleTypeAt = 72;

// Types of records: those of the kernel (enum perf_event_type) and, from 64 on, of tools/perf
// (tools/lib/perf/include/perf/event.h).
inline constexpr uint32_t kMmapRecord = 1, kLost = 2, kComm = 3, kSample = 9, kMmap2Record = 10,
                          kFinishedRound = 68, kIdIndex = 69, kAuxtraceInfo = 70, kAuxtrace = 71;

// Bits of features (tools/perf/util/header.h).
inline constexpr unsigned kBuildId = 2, kHostName = 3, kOsRelease = 4, kVersion = 5, kArch = 6,
                          kCpuCount = 7, kEventDescription = 12, kPmuMappings = 16,
                          kAuxtraceIndex = 18;

// A number in the byte order of the file.
constexpr uint64_t little(uint64_t value) {
  if constexpr (std::endian::native == std::endian::big) return __builtin_bswap64(value);
  return value;
}

constexpr uint64_t record_header(uint32_t type, uint16_t misc, size_t bytes) {
  return type | uint64_t{misc} << 32 | uint64_t{bytes} << 48;
}

void put16(FileBytes& to, uint16_t value);
void put32(FileBytes& to, uint64_t value);
void put64(FileBytes& to, uint64_t value);
void put_bytes(FileBytes& to, std::span<const std::byte> bytes);
// Pads the text with at least one zero to a multiple of `unit`.
void put_padded(FileBytes& to, std::string_view text, size_t unit);
// The strings of features.
void put_string(FileBytes& to, std::string_view text);
void put_record_header(FileBytes& to, uint32_t type, size_t bytes, uint16_t misc = 0);
// The feature kHostName. Its bit shows readers the byte order of the bits, so each file has it:
// perf needs it on a big-endian machine (perf_file_header__read in tools/perf/util/header.c), and
// hotspot needs it on every machine.
FileBytes host_name();
// The value of the feature kArch. perf accepts all names that begin with "ppc" or "powerpc", and
// reads the size of an address from "64" (tools/perf/util/env.c). hotspot accepts only names with
// "powerpc".
inline constexpr std::string_view kArchName = "powerpc64le";

// A section of the file, in bytes.
struct Section {
  uint64_t begin = 0;
  uint64_t size_bytes = 0;
};
// Appends the header of the file. `features` is a set of bits. The table of features follows the
// data.
void put_header(FileBytes& to, Section attributes, Section data, uint64_t features);
// Appends the table of the features and the features themselves, sorted by bit. `begin` is the
// offset in the file.
void put_features(FileBytes& to, uint64_t begin, std::span<const FileBytes> features);

}  // namespace htmtrace::perf_file

// SPDX-License-Identifier: GPL-2.0-or-later
// Parses the contents of records in an htm event's data ring. Each parser checks its bounds and
// returns nothing for a record that is too short. (Layouts: enum perf_event_type,
// include/uapi/linux/perf_event.h.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ringbuf/rings.h"

namespace htmtrace {

// PERF_RECORD_AUX: `size` new bytes in the AUX area at the running position `offset`.
struct AuxRecord {
  uint64_t offset = 0;
  uint64_t size = 0;
  uint64_t flags = 0;
};
std::optional<AuxRecord> parse_aux(std::span<const std::byte> body);

// PERF_RECORD_LOST: the number of records that did not fit.
std::optional<uint64_t> parse_lost(std::span<const std::byte> body);

// PERF_RECORD_MMAP2: a process mapped part of a file. The name is valid as long as the body.
struct MappedFile {
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t offset = 0;        // in the file
  uint32_t device_major = 0;  // as in /proc/PID/maps
  uint32_t device_minor = 0;
  uint64_t inode = 0;
  uint32_t protection = 0;  // PROT_READ and others
  uint32_t flags = 0;       // MAP_SHARED and others
  std::string_view name;
};
// Returns nothing if the record is too short, or identifies its file by a build ID.
std::optional<MappedFile> parse_mapped_file(const Record& record);

// PERF_RECORD_FORK: a process created another process, or a thread.
struct Fork {
  uint32_t process = 0;
  uint32_t parent = 0;
  bool is_thread() const { return process == parent; }
};
std::optional<Fork> parse_fork(const Record& record);

// The raw payload of a PERF_RECORD_SAMPLE with sample_type IDENTIFIER|IP|TID|TIME|CPU|RAW. perf
// pads the payload, which may be up to seven bytes longer than the driver's data.
std::optional<std::span<const std::byte>> parse_raw(std::span<const std::byte> body);

// The first public driver's end marker: the number of dumps of the trace, each of a whole AUX ring.
// A raw payload of exactly four bytes, in the machine's byte order.
std::optional<uint32_t> parse_end_marker(std::span<const std::byte> payload);

// A report of htmtrace's own driver about its delivery, in a PERF_RECORD_AUX_OUTPUT_HW_ID
// (kmod/ABI). The public drivers never write such a record.
struct Announcement {
  enum class Kind : uint8_t {
    kTraceBegin = 1,
    kTraceEnd = 2,
    kMapBegin = 3,
    kMapEnd = 4,
    kError = 5,
    kStarted = 6,  // the macro began tracing
    kGap = 7,      // the enabled macro did not trace for some time
  };
  Kind kind = Kind::kError;
  uint64_t bytes = 0;  // size of the trace memory (begin) or delivered bytes (end)
  // Only for kError:
  unsigned operation = 0;   // number in the H_HTM call
  int error_number = 0;     // an errno
  int32_t return_code = 0;  // of the hypervisor
  // Only for kStarted and kGap:
  unsigned why = 0;  // one bit for each reason; 0: the trace began on request
  uint64_t untraced_ns = 0;
};
// Returns nothing if the record is too short or its kind is unknown.
std::optional<Announcement> parse_announcement(std::span<const std::byte> body);

}  // namespace htmtrace

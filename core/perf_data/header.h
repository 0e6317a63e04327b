// SPDX-License-Identifier: GPL-2.0-or-later
// The parts of a perf.data file that give its records a meaning.
#pragma once

#include <cstring>
#include <optional>
#include <utility>

#include "core/base/big_endian.h"
#include "core/perf_data/file.h"

namespace htmtrace::perf_data {

// Reads numbers in the byte order of the file's writer. Past the end, the reader returns zeros and
// stays there; check good() after each group of numbers.
class Fields {
 public:
  Fields(std::span<const std::byte> bytes, bool big_endian) : bytes_(bytes), big_(big_endian) {}

  uint16_t u16() { return static_cast<uint16_t>(number(2)); }
  uint32_t u32() { return static_cast<uint32_t>(number(4)); }
  uint64_t u64() { return number(8); }
  void skip(uint64_t count) {
    if (count > left()) good_ = false;
    at_ += good_ ? static_cast<size_t>(count) : 0;
  }
  // Reads a text: four bytes of length, then characters and NULs.
  std::string text();

  bool good() const { return good_; }
  size_t left() const { return bytes_.size() - at_; }
  size_t offset() const { return at_; }

 private:
  uint64_t number(size_t count) {
    if (left() < count) good_ = false;
    if (!good_) return 0;
    uint64_t value = 0;
    for (size_t i = 0; i < count; i++) {
      const size_t place = big_ ? i : count - 1 - i;
      value = value << 8 | std::to_integer<uint64_t>(bytes_[at_ + place]);
    }
    at_ += count;
    return value;
  }

  std::span<const std::byte> bytes_;
  size_t at_ = 0;
  bool big_;
  bool good_ = true;
};

// The bits of enum perf_event_sample_format that determine the layout of a record.
inline constexpr uint64_t kSampleIp = 1 << 0;
inline constexpr uint64_t kSampleTid = 1 << 1;
inline constexpr uint64_t kSampleTime = 1 << 2;
inline constexpr uint64_t kSampleAddr = 1 << 3;
inline constexpr uint64_t kSampleId = 1 << 6;
inline constexpr uint64_t kSampleCpu = 1 << 7;
inline constexpr uint64_t kSamplePeriod = 1 << 8;
inline constexpr uint64_t kSampleStreamId = 1 << 9;
inline constexpr uint64_t kSampleRaw = 1 << 10;
inline constexpr uint64_t kSampleIdentifier = 1 << 16;

struct Event {
  uint32_t type = 0;
  uint64_t config = 0;
  uint64_t period = 0;
  bool is_frequency = false;  // the period is in samples per second
  uint64_t sample_type = 0;
  bool sample_id_all = false;
  bool other_clock = false;  // the event does not use perf's own clock
};

struct Header {
  bool big_endian = false;
  FileExtent data;          // extent of the records
  bool unfinished = false;  // the writer did not finish the file
  std::vector<Event> events;
  // Type numbers of the PMUs htm and vpa_dtl on the recorded machine.
  std::optional<uint32_t> htm_type, dtl_type;
  std::string kernel;  // its release; empty: not reported
  // The identifiers of the events, with indexes of `events`, sorted.
  std::vector<std::pair<uint64_t, size_t>> ids;

  // The event of a record, by the identifier at the start of a sample, or at the end of another
  // record. Null if unknown.
  const Event* event_of(std::span<const std::byte> body, bool sample) const;
};

// Throws Error.
Header read_header(uint64_t file_bytes, const ReadAt& read);

}  // namespace htmtrace::perf_data

// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the records of a perf.data file in order.
#pragma once

#include "core/dispatch_log/tasks.h"
#include "core/perf_data/header.h"

namespace htmtrace::perf_data {

// enum perf_event_type and, from 64 on, the perf tool's own records (enum perf_user_event_type).
enum RecordType : uint32_t {
  kRecordLost = 2,
  kRecordComm = 3,
  kRecordThrottle = 5,
  kRecordFork = 7,
  kRecordSample = 9,
  kRecordAux = 11,
  kRecordLostSamples = 13,
  kRecordSwitchCpuWide = 15,
  kRecordAuxtraceInfo = 70,
  kRecordAuxtrace = 71,
  kRecordCompressed = 81,
  kRecordCompressed2 = 83,
};

// CPU numbers of a recording have 16 bits, and no kernel has more CPUs.
inline constexpr uint32_t kMostCpus = 1 << 16;

struct Record {
  uint32_t type = 0;
  uint16_t misc = 0;
  uint64_t offset = 0;              // of its header in the file
  std::span<const std::byte> body;  // without the header; valid until the next record
};

class RecordReader {
 public:
  // All arguments must outlive the reader.
  RecordReader(const FileExtent& records, bool big_endian, const ReadAt& read)
      : at_(records.offset),
        end_(records.offset + records.size_bytes),
        big_endian_(big_endian),
        read_(read),
        window_(kWindowBytes) {}

  // Returns nothing at the end and at bytes that are not a record.
  std::optional<Record> next();
  // Skips bytes that follow the last record without being part of any record.
  void pass(uint64_t size_bytes);

  // The number of bytes at the end that are not records.
  uint64_t left() const { return end_ - at_; }

 private:
  static constexpr size_t kWindowBytes = 1 << 20;
  static constexpr size_t kHeaderBytes = 8;

  // The next `size` bytes, or nothing if fewer bytes remain.
  std::optional<std::span<const std::byte>> look(size_t size);

  uint64_t at_;
  uint64_t end_;
  bool big_endian_;
  const ReadAt& read_;
  std::vector<std::byte> window_;
  uint64_t window_at_ = 0;
  size_t window_used_ = 0;
};

// The description of the AUX data that follows an AUXTRACE record.
struct AuxChunk {
  uint32_t cpu = 0;
  uint64_t position = 0;       // running position in the AUX area
  uint64_t payload_bytes = 0;  // as stated in the record; 0 for a cut record
  FileExtent at;               // the part of the payload that the file holds
};

AuxChunk parse_auxtrace(const Record& record, bool big_endian, uint64_t file_bytes);

// The contents of a sample of an htm event.
struct Sample {
  std::optional<uint32_t> cpu;
  uint64_t raw_offset = 0;  // offset in the record's body
  uint64_t raw_bytes = 0;
};

// Returns nothing for a sample without raw data, and for a sample with fields that htm events do
// not use.
std::optional<Sample> parse_sample(Fields body, uint64_t sample_type);

// The CPU from the trailer of a record other than a sample, if the event requested trailers.
std::optional<uint32_t> trailer_cpu(std::span<const std::byte> body, const Event& event,
                                    bool big_endian);
// The time from the same trailer.
std::optional<uint64_t> trailer_time(std::span<const std::byte> body, const Event& event,
                                     bool big_endian);
// The task from the same trailer.
std::optional<DtlTask> trailer_task(std::span<const std::byte> body, const Event& event,
                                    bool big_endian);

}  // namespace htmtrace::perf_data

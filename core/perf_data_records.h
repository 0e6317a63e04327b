// SPDX-License-Identifier: GPL-2.0-or-later
// The records of a perf.data file, one after the other.
#pragma once

#include "core/dtl_tasks.h"
#include "core/perf_data_header.h"

namespace htmtrace::perf_data {

// enum perf_event_type, and behind 63 what the perf tool adds (enum perf_user_event_type).
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

struct Record {
  uint32_t type = 0;
  uint16_t misc = 0;
  uint64_t offset = 0;              // of its header in the file
  std::span<const std::byte> body;  // behind the header; valid until the next record
};

class RecordReader {
 public:
  // All must outlive it.
  RecordReader(const FileExtent& records, bool big_endian, const ReadAt& read)
      : at_(records.offset),
        end_(records.offset + records.size_bytes),
        big_endian_(big_endian),
        read_(read),
        window_(kWindowBytes) {}

  // Nothing at the end, and where what follows is no record.
  std::optional<Record> next();
  // Bytes that stand behind the last record without being part of it; not of any later one.
  void pass(uint64_t size_bytes);

  // How many bytes at the end are no records.
  uint64_t left() const { return end_ - at_; }

 private:
  static constexpr size_t kWindowBytes = 1 << 20;
  static constexpr size_t kHeaderBytes = 8;

  // The bytes at at_, if there are so many.
  std::optional<std::span<const std::byte>> look(size_t size);

  uint64_t at_;
  uint64_t end_;
  bool big_endian_;
  const ReadAt& read_;
  std::vector<std::byte> window_;
  uint64_t window_at_ = 0;
  size_t window_used_ = 0;
};

// What an AUXTRACE record tells of the AUX data behind it.
struct AuxChunk {
  uint32_t cpu = 0;
  uint64_t position = 0;       // in all that the AUX area has held
  uint64_t payload_bytes = 0;  // as the record says; 0 when it is cut
  FileExtent at;               // so much of that is in the file
};

AuxChunk parse_auxtrace(const Record& record, bool big_endian, uint64_t file_bytes);

// What an htm event has told in a sample.
struct Sample {
  std::optional<uint32_t> cpu;
  uint64_t raw_offset = 0;  // in the record's body
  uint64_t raw_bytes = 0;
};

// Nothing when it has no raw data, or fields that no sample of an htm event has.
std::optional<Sample> parse_sample(Fields body, uint64_t sample_type);

// The end of each record that is no sample, if the event asked for it: from which CPU it is.
std::optional<uint32_t> trailer_cpu(std::span<const std::byte> body, const Event& event,
                                    bool big_endian);
// And when it came.
std::optional<uint64_t> trailer_time(std::span<const std::byte> body, const Event& event,
                                     bool big_endian);
// And who was there.
std::optional<DtlTask> trailer_task(std::span<const std::byte> body, const Event& event,
                                    bool big_endian);

}  // namespace htmtrace::perf_data

// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/perf_data/records.h"

#include <algorithm>
#include <bit>

namespace htmtrace::perf_data {

std::optional<std::span<const std::byte>> RecordReader::look(size_t size) {
  if (end_ - at_ < size) return std::nullopt;
  const bool inside = at_ >= window_at_ && at_ - window_at_ + size <= window_used_;
  if (!inside) {
    const auto wanted = static_cast<size_t>(std::min<uint64_t>(window_.size(), end_ - at_));
    window_at_ = at_;
    window_used_ = read_(at_, std::span(window_).first(wanted));
    if (window_used_ < size) return std::nullopt;
  }
  return std::span<const std::byte>(window_).subspan(static_cast<size_t>(at_ - window_at_), size);
}

std::optional<Record> RecordReader::next() {
  const auto header = look(kHeaderBytes);
  if (!header) return std::nullopt;
  Fields fields(*header, big_endian_);
  const uint32_t type = fields.u32();
  const uint16_t misc = fields.u16();
  const uint16_t size = fields.u16();
  // Only the perf tool's own records may have a size that is no multiple of 8. Type 0 is invalid.
  constexpr uint32_t kFirstOfTool = 64;
  if (type == 0 || size < kHeaderBytes || (type < kFirstOfTool && size % 8 != 0)) {
    return std::nullopt;
  }
  const auto whole = look(size);
  if (!whole) return std::nullopt;
  const Record record{
      .type = type, .misc = misc, .offset = at_, .body = whole->subspan(kHeaderBytes)};
  at_ += size;
  return record;
}

void RecordReader::pass(uint64_t size_bytes) {
  at_ += std::min(size_bytes, end_ - at_);
}

std::optional<Sample> parse_sample(Fields body, uint64_t sample_type) {
  constexpr uint64_t kKnown = kSampleIp | kSampleTid | kSampleTime | kSampleAddr | kSampleId |
                              kSampleCpu | kSamplePeriod | kSampleStreamId | kSampleRaw |
                              kSampleIdentifier;
  if ((sample_type & ~kKnown) != 0 || (sample_type & kSampleRaw) == 0) return std::nullopt;
  // Fields in this order, 8 bytes each: PERF_RECORD_SAMPLE in include/uapi/linux/perf_event.h.
  for (const uint64_t field : {kSampleIdentifier, kSampleIp, kSampleTid, kSampleTime, kSampleAddr,
                               kSampleId, kSampleStreamId}) {
    if ((sample_type & field) != 0) body.u64();
  }
  Sample sample;
  if ((sample_type & kSampleCpu) != 0) {
    sample.cpu = body.u32();
    body.u32();
  }
  if ((sample_type & kSamplePeriod) != 0) body.u64();
  sample.raw_bytes = body.u32();
  sample.raw_offset = body.offset();
  if (!body.good() || sample.raw_bytes > body.left()) return std::nullopt;
  return sample;
}

AuxChunk parse_auxtrace(const Record& record, bool big_endian, uint64_t file_bytes) {
  Fields body(record.body, big_endian);
  AuxChunk chunk;
  chunk.payload_bytes = body.u64();
  chunk.position = body.u64();
  body.u64();  // reference
  body.u64();  // index and thread
  chunk.cpu = body.u32();
  if (!body.good()) chunk.payload_bytes = 0;
  const uint64_t begin = record.offset + 8 + record.body.size();
  chunk.at = {begin, std::min(chunk.payload_bytes, file_bytes - begin)};
  return chunk;
}

std::optional<uint32_t> trailer_cpu(std::span<const std::byte> body, const Event& event,
                                    bool big_endian) {
  if (!event.sample_id_all || (event.sample_type & kSampleCpu) == 0) return std::nullopt;
  // The identifier follows the CPU; both fields have 8 bytes.
  const size_t from_end = (event.sample_type & kSampleIdentifier) != 0 ? 16 : 8;
  if (body.size() < from_end) return std::nullopt;
  return Fields(body.last(from_end), big_endian).u32();
}

namespace {

// The distance of the time from the end of a trailer. The following fields, 8 bytes each, are
// present if the event requested them.
size_t trailer_time_place(const Event& event) {
  size_t from_end = 8;
  for (const uint64_t field : {kSampleId, kSampleStreamId, kSampleCpu, kSampleIdentifier}) {
    if ((event.sample_type & field) != 0) from_end += 8;
  }
  return from_end;
}

}  // namespace

std::optional<uint64_t> trailer_time(std::span<const std::byte> body, const Event& event,
                                     bool big_endian) {
  if (!event.sample_id_all || (event.sample_type & kSampleTime) == 0) return std::nullopt;
  const size_t from_end = trailer_time_place(event);
  if (body.size() < from_end) return std::nullopt;
  return Fields(body.last(from_end), big_endian).u64();
}

std::optional<DtlTask> trailer_task(std::span<const std::byte> body, const Event& event,
                                    bool big_endian) {
  if (!event.sample_id_all || (event.sample_type & kSampleTid) == 0) return std::nullopt;
  const size_t from_end =
      trailer_time_place(event) + ((event.sample_type & kSampleTime) != 0 ? 8 : 0);
  if (body.size() < from_end) return std::nullopt;
  Fields fields(body.last(from_end), big_endian);
  DtlTask task;
  task.pid = fields.u32();
  task.tid = fields.u32();
  return task;
}

}  // namespace htmtrace::perf_data

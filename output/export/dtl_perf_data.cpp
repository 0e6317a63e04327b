// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/export/dtl_perf_data.h"

#include <algorithm>
#include <string_view>

#include "output/export/perf_file.h"

namespace htmtrace {
namespace {

using namespace perf_file;

constexpr size_t kChunkRecordBytes = 48;

// Any number above the kernel's own PMU types. PMU_MAPPINGS states its name.
constexpr uint32_t kPmuType = 1000;
constexpr uint32_t kVpaDtl = 7;  // PERF_AUXTRACE_VPA_DTL

constexpr uint64_t kFeatures = 1 << kHostName | 1 << kArch | 1 << kCpuCount |
                               1 << kEventDescription | 1 << kPmuMappings | 1 << kAuxtraceIndex;

// Sizes of perf's name tables (tools/perf/util/powerpc-vpadtl.c).
constexpr uint8_t kDispatchNames = 11, kPreemptNames = 10;

uint64_t config_of(std::string_view event) {
  if (event == "cede") return 1;
  if (event == "preempt") return 2;
  if (event == "fault") return 4;
  return 7;
}

}  // namespace

void DtlPerfData::announce(int cpu, std::span<const DtlEntry> entries) {
  const bool first = cpus_.try_emplace(cpu).second;
  chunks_++;
  chunk_bytes_ += kChunkRecordBytes + (entries.size() + (first ? 1 : 0)) * kDtlEntryBytes;
  for (const DtlEntry& entry : entries) {
    last_timebase_ = std::max(last_timebase_, entry.timebase);
    if (entry.dispatch_reason >= kDispatchNames || entry.preempt_reason >= kPreemptNames) {
      strange_reasons_++;
    }
  }
}

void DtlPerfData::begin(const About& about, FileBytes& to) {
  about_ = about;
  uint32_t index = 0;
  for (auto& [number, cpu] : cpus_) cpu.index = index++;
  const FileBytes records = records_before();
  const uint64_t ids_begin = kHeaderBytes;
  const uint64_t ids_bytes = cpus_.size() * sizeof(uint64_t);
  const uint64_t attributes_begin = ids_begin + ids_bytes;
  const uint64_t attributes_bytes = kAttributeBytes + 16;
  data_begin_ = attributes_begin + attributes_bytes;
  data_bytes_ = records.size() + chunk_bytes_ + record_behind().size();
  offset_ = data_begin_ + records.size();

  put_header(to, {attributes_begin, attributes_bytes}, {data_begin_, data_bytes_},
             kFeatures | (about_.kernel.empty() ? 0 : 1 << kOsRelease));
  for (const auto& [number, cpu] : cpus_) put64(to, id(cpu));
  put_bytes(to, attribute());
  put64(to, ids_begin);
  put64(to, ids_bytes);
  put_bytes(to, records);
}

// Returns a struct perf_event_attr.
FileBytes DtlPerfData::attribute() const {
  FileBytes bytes;
  put32(bytes, kPmuType);
  put32(bytes, kAttributeBytes);
  put64(bytes, config_of(about_.event));
  put64(bytes, std::max<uint64_t>(about_.period_ns, 1));
  put64(bytes, kSampleIdentifier | kSampleIp | kSampleTid | kSampleTime | kSampleCpu);
  put64(bytes, 0);  // read_format
  put64(bytes, kDisabled | kSampleIdAll);
  bytes.resize(kAttributeBytes);
  return bytes;
}

FileBytes DtlPerfData::records_before() const {
  FileBytes bytes;
  // A record of at most 64 KiB holds this many ids.
  constexpr size_t kIdsAtOnce = 2000;
  constexpr size_t kIdBytes = 32;
  auto at = cpus_.begin();
  for (size_t left = cpus_.size(); left > 0;) {
    const size_t now = std::min(left, kIdsAtOnce);
    put_record_header(bytes, kIdIndex, 16 + now * kIdBytes);
    put64(bytes, now);
    for (size_t i = 0; i < now; i++, ++at) {
      put64(bytes, id(at->second));
      put64(bytes, at->second.index);
      put64(bytes, static_cast<uint64_t>(at->first));
      put64(bytes, UINT64_MAX);  // no thread
    }
    left -= now;
  }
  put_record_header(bytes, kAuxtraceInfo, 24);
  put32(bytes, kVpaDtl);
  put32(bytes, 0);
  put64(bytes, kPmuType);
  return bytes;
}

void DtlPerfData::add(int cpu, std::span<const DtlEntry> entries, FileBytes& to) {
  Cpu& known = cpus_.at(cpu);
  const uint64_t bytes = (entries.size() + (known.begun ? 0 : 1)) * kDtlEntryBytes;
  put_record_header(to, kAuxtrace, kChunkRecordBytes);
  put64(to, bytes);
  put64(to, known.position);
  put64(to, 0);
  put32(to, known.index);
  put32(to, UINT32_MAX);  // no thread
  put32(to, static_cast<uint32_t>(cpu));
  put32(to, 0);
  if (!known.begun) {
    put64(to, about_.clock.boot_timebase);
    put64(to, about_.clock.ticks_per_second);
    to.resize(to.size() + kDtlEntryBytes - 2 * sizeof(uint64_t));
    known.begun = true;
  }
  size_t at = to.size();
  to.resize(at + entries.size() * kDtlEntryBytes);
  for (const DtlEntry& entry : entries) {
    store_dtl_entry(to.data() + at, entry);
    at += kDtlEntryBytes;
  }
  known.position += bytes;
  offsets_.push_back(offset_);
  offset_ += kChunkRecordBytes + bytes;
}

// perf shows an entry only after a record with a later time.
FileBytes DtlPerfData::record_behind() const {
  constexpr uint64_t kLater = 1'000'000;  // perf computes times with floating-point numbers
  const uint64_t time = about_.clock.nanoseconds(last_timebase_).value_or(0) + kLater;
  FileBytes bytes;
  put_record_header(bytes, kComm, 8 + 8 + 16 + 32);
  put32(bytes, 0);
  put32(bytes, 0);
  put_padded(bytes, "swapper", 16);
  put32(bytes, 0);
  put32(bytes, 0);
  put64(bytes, time);
  put32(bytes, cpus_.empty() ? 0 : static_cast<uint64_t>(cpus_.begin()->first));
  put32(bytes, 0);
  put64(bytes, 1);
  return bytes;
}

void DtlPerfData::end(FileBytes& to) const {
  put_bytes(to, record_behind());
  put_features(to, data_begin_ + data_bytes_, features());
}

// Sorted by feature bit.
std::vector<FileBytes> DtlPerfData::features() const {
  FileBytes arch, count, events, mappings, index;
  put_string(arch, kArchName);
  const uint64_t cpus = cpus_.empty() ? 0 : static_cast<uint64_t>(cpus_.rbegin()->first) + 1;
  put32(count, cpus);
  put32(count, cpus_.size());

  put32(events, 1);
  put32(events, kAttributeBytes);
  put_bytes(events, attribute());
  put32(events, cpus_.size());
  put_string(events, "vpa_dtl/dtl_" + about_.event + "/");
  for (const auto& [number, cpu] : cpus_) put64(events, id(cpu));

  put32(mappings, 1);
  put32(mappings, kPmuType);
  put_string(mappings, "vpa_dtl");

  put64(index, offsets_.size());
  for (const uint64_t offset : offsets_) {
    put64(index, offset);
    put64(index, kChunkRecordBytes);
  }
  std::vector<FileBytes> all = {host_name()};
  if (!about_.kernel.empty()) put_string(all.emplace_back(), about_.kernel);
  for (FileBytes* each : {&arch, &count, &events, &mappings, &index})
    all.push_back(std::move(*each));
  return all;
}

}  // namespace htmtrace

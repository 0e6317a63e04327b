// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/export/perf_records.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace htmtrace {
namespace {

using namespace perf_file;

// All numbers without another source are in include/uapi/linux/perf_event.h.
constexpr uint16_t kMiscData = 1 << 13, kMiscBuildId = 1 << 14;
constexpr uint64_t kBranchAny = 1 << 3, kBranchTypes = 1 << 16;  // branch_sample_type
constexpr uint32_t kHardwareEvent = 0;
constexpr uint64_t kInstructionsEvent = 1;
constexpr uint64_t kEventId = 1;

// mmap(2)
constexpr uint64_t kProtRead = 1, kProtExec = 4, kMapPrivate = 2;

// TASK_COMM_LEN of Linux, which perf assumes.
constexpr size_t kCommandBytes = 16;

constexpr uint64_t kAttributesBegin = kHeaderBytes + sizeof(kEventId);
constexpr uint64_t kAttributesBytes = kAttributeBytes + 16;
constexpr uint64_t kDataBegin = kAttributesBegin + kAttributesBytes;

std::string_view text_of(const FileBytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

PerfRecords::PerfRecords(TextOutput& output, const PerfSampling& sampling, const PerfMaps& maps)
    : output_(output), sampling_(sampling), maps_(maps) {
  FileBytes start(kHeaderBytes);  // finish() writes the header
  put64(start, kEventId);
  put_bytes(start, attribute());
  put64(start, kHeaderBytes);
  put64(start, sizeof(kEventId));
  output_.put(text_of(start));
  put_command(PerfTask::kKernel, "kernel");
  put_command(PerfTask::kUnknown, "unknown");
  for (const PerfMaps::Kernel& kernel : maps.kernel) put_kernel(kernel);
  for (const PerfMaps::Process& process : maps.processes) {
    const PerfTask task = perf_task(process.pid);
    put_command(task, process.command);
    for (const PerfMaps::Mapping& mapping : process.mappings) put_mapping(task, mapping);
  }
}

// Returns a struct perf_event_attr.
FileBytes PerfRecords::attribute() const {
  FileBytes bytes;
  put32(bytes, kHardwareEvent);
  put32(bytes, kAttributeBytes);
  put64(bytes, kInstructionsEvent);
  put64(bytes, std::max<uint64_t>(sampling_.period, 1));
  put64(bytes, kSampleIp | kSampleTid | kSampleTime | kSampleAddress | kSamplePeriod |
                   kSampleDataSource | (sampling_.stacks ? kSampleCallChain : 0) |
                   (sampling_.branches != 0 ? kSampleBranchStack : 0));
  put64(bytes, 0);  // read_format
  put64(bytes, kDisabled | kMmap | kCommEvents | kMmapData | kSampleIdAll | kMmap2);
  bytes.resize(kBranchSampleTypeAt);
  put64(bytes, sampling_.branches != 0 ? kBranchAny | kBranchTypes : 0);
  bytes.resize(kAttributeBytes);
  return bytes;
}

void PerfRecords::put(std::span<const std::byte> record) {
  output_.put({reinterpret_cast<const char*>(record.data()), record.size()});
  data_bytes_ += record.size();
  if (data_bytes_ < round_end_) return;
  round_end_ = data_bytes_ + kRoundBytes;
  const uint64_t round = little(record_header(kFinishedRound, 0, kRecordHeaderBytes));
  output_.put({reinterpret_cast<const char*>(&round), sizeof(round)});
  data_bytes_ += sizeof(round);
}

// The members of sample_type that sample_id_all adds to all other records.
void PerfRecords::put_trailer(FileBytes& to, PerfTask task) const {
  put64(to, static_cast<uint64_t>(task));
  put64(to, time_);
}

void PerfRecords::put_lost(uint64_t records) {
  FileBytes bytes;
  put_record_header(bytes, kLost, 40);
  put64(bytes, kEventId);
  put64(bytes, records);
  put_trailer(bytes, PerfTask::kUnknown);
  put(bytes);
}

void PerfRecords::put_command(PerfTask task, const std::string& command) {
  FileBytes bytes;
  put_record_header(bytes, kComm, 16 + kCommandBytes + 16);
  put64(bytes, static_cast<uint64_t>(task));
  put_padded(bytes, std::string_view(command).substr(0, kCommandBytes - 1), kCommandBytes);
  put_trailer(bytes, task);
  put(bytes);
}

void PerfRecords::put_mapping(PerfTask task, const PerfMaps::Mapping& mapping) {
  put_mapping(task, mapping, maps_.files[mapping.file]);
}

// perf searches /tmp for the names of code without a file, so this mapping is data.
void PerfRecords::put_memory(PerfTask task, uint64_t begin, uint64_t end) {
  put_mapping(task, {.address = begin, .bytes = end - begin, .is_code = false},
              {.path = "//anon", .build_id = {}});
}

void PerfRecords::put_mapping(PerfTask task, const PerfMaps::Mapping& mapping,
                              const PerfMaps::File& file) {
  put_mapping2(task, PerfMode::kUser, mapping, file, task);
}

void PerfRecords::put_mapping2(PerfTask task, PerfMode mode, const PerfMaps::Mapping& mapping,
                               const PerfMaps::File& file, PerfTask trailer) {
  const std::string_view path = std::string_view(file.path).substr(0, PerfMaps::kMostPathBytes);
  const bool has_id = !file.build_id.empty();
  FileBytes bytes;
  put_record_header(
      bytes, kMmap2Record, 72 + path.size() / 8 * 8 + 8 + 16,
      static_cast<uint16_t>(static_cast<uint16_t>(mode) | (mapping.is_code ? 0 : kMiscData) |
                            (has_id ? kMiscBuildId : 0)));
  put64(bytes, static_cast<uint64_t>(task));
  put64(bytes, mapping.address);
  put64(bytes, mapping.bytes);
  put64(bytes, mapping.offset);
  if (has_id) {
    put32(bytes, file.build_id.size());
    put_bytes(bytes, std::as_bytes(std::span(file.build_id)));
    bytes.resize(bytes.size() + SymbolTable::kMostBuildIdBytes - file.build_id.size());
  } else {
    put64(bytes, 0);  // the device is unknown
    put64(bytes, mapping.inode);
    put64(bytes, 0);
  }
  put32(bytes, kProtRead | (mapping.is_code ? kProtExec : 0));
  put32(bytes, kMapPrivate);
  put_padded(bytes, path, 8);
  put_trailer(bytes, trailer);
  put(bytes);
}

void PerfRecords::put_kernel(const PerfMaps::Kernel& kernel) {
  constexpr uint64_t kNoProcess = 0xffffffff;  // pid -1, tid 0, as perf record writes it
  const std::string_view name = std::string_view(kernel.name).substr(0, 255);
  if (!kernel.build_id.empty()) {
    return put_mapping2(static_cast<PerfTask>(kNoProcess), PerfMode::kKernel,
                        {.address = kernel.begin,
                         .bytes = kernel.end - kernel.begin,
                         .offset = kernel.reference,
                         .is_code = true},
                        {.path = std::string(name), .build_id = kernel.build_id},
                        PerfTask::kKernel);
  }
  FileBytes bytes;
  put_record_header(bytes, kMmapRecord, 40 + name.size() / 8 * 8 + 8 + 16,
                    static_cast<uint16_t>(PerfMode::kKernel));
  put64(bytes, kNoProcess);
  put64(bytes, kernel.begin);
  put64(bytes, kernel.end - kernel.begin);
  put64(bytes, kernel.reference);
  put_padded(bytes, name, 8);
  put_trailer(bytes, PerfTask::kKernel);
  put(bytes);
}

void PerfRecords::finish(const std::string& version) {
  FileBytes program, arch, cpus, events;
  put_string(program, version);
  put_string(arch, kArchName);
  put32(cpus, 1);
  put32(cpus, 1);
  put32(events, 1);
  put32(events, kAttributeBytes);
  put_bytes(events, attribute());
  put32(events, 1);
  put_string(events, "instructions");
  put64(events, kEventId);
  constexpr uint64_t kFeatureBits =
      1 << kHostName | 1 << kVersion | 1 << kArch | 1 << kCpuCount | 1 << kEventDescription;
  const std::vector<FileBytes> features = {host_name(), program, arch, cpus, events};
  FileBytes end, header;
  put_features(end, kDataBegin + data_bytes_, features);
  output_.put(text_of(end));
  put_header(header, {kAttributesBegin, kAttributesBytes}, {kDataBegin, data_bytes_}, kFeatureBits);
  output_.rewrite(0, text_of(header));
}

}  // namespace htmtrace

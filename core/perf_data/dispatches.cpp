// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/perf_data/dispatches.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "core/base/error.h"
#include "core/perf_data/records.h"
#include "core/perf_data/tasks.h"

namespace htmtrace::perf_data {
namespace {

// PERF_AUXTRACE_VPA_DTL (tools/perf/util/auxtrace.h)
constexpr uint32_t kVpaDtl = 7;
// The numbers of PMUs up to this one are fixed (PERF_TYPE_BREAKPOINT).
constexpr uint32_t kLastFixedPmu = 5;
constexpr uint64_t kNoRoom = 1;   // PERF_AUX_FLAG_TRUNCATED
constexpr uint64_t kMissing = 4;  // PERF_AUX_FLAG_PARTIAL from htmtrace's own driver
// The driver does not read the log more often (vpa_dtl_start_hrtimer: MSEC_PER_SEC).
constexpr uint64_t kLeastPeriodNs = 1'000'000;
// The kernel maps whole pages, and perf maps at least two pages.
constexpr uint64_t kLeastAreaBytes = 8192;

const char* event_name(uint64_t config) {
  switch (config) {
    case 1:
      return "cede";
    case 2:
      return "preempt";
    case 4:
      return "fault";
    default:
      return "all";
  }
}

class DispatchFinder {
 public:
  DispatchFinder(uint64_t file_bytes, const ReadAt& read)
      : file_bytes_(file_bytes), read_(read), header_(read_header(file_bytes, read)) {}

  DtlPerfContent find() {
    content_.big_endian = header_.big_endian;
    content_.kernel = header_.kernel;
    RecordReader records(header_.data, header_.big_endian, read_);
    while (const auto record = records.next()) {
      take(*record);
      if (record->type == kRecordAuxtrace) records.pass(payload_bytes_);
    }
    find_event();
    if (records.left() != 0) {
      lose(fmt::format("the last {} bytes are not records: the file is damaged", records.left()));
    } else if (header_.unfinished) {
      lose("perf did not finish the file: its end may be missing");
    }
    if (cut_bytes_ != 0) lose("the file ends within an AUX record", LossUnit::kBytes, cut_bytes_);
    if (strange_bytes_ != 0) {
      lose("AUX data with an invalid CPU number", LossUnit::kBytes, strange_bytes_);
    }
    if (lost_records_ != 0) {
      lose("perf's buffer was full", LossUnit::kRecords, lost_records_);
    }
    if (compressed_ != 0) {
      lose(fmt::format("{} compressed records are not read (perf record -z)", compressed_));
    }
    if (unclear_ends_ != 0) {
      lose(
          fmt::format("{} AUX records of a length that no size of the AUX area explains: entries "
                      "after them may be wrong",
                      unclear_ends_));
    }
    return std::move(content_);
  }

 private:
  void lose(std::string cause, LossUnit unit = LossUnit::kUnknown, uint64_t amount = 0) {
    content_.losses.push_back({"perf.data", std::move(cause), unit, amount});
  }

  Fields fields(std::span<const std::byte> bytes) const { return {bytes, header_.big_endian}; }

  void take(const Record& record) {
    tasks_.take(record, header_.event_of(record.body, /*sample=*/false));
    switch (record.type) {
      case kRecordAuxtraceInfo:
        dispatches_ = dispatches_ || fields(record.body).u32() == kVpaDtl;
        return;
      case kRecordAuxtrace:
        return take_chunk(record);
      case kRecordAux:
        return take_delivery(record.body);
      case kRecordLost: {
        Fields body = fields(record.body);
        body.u64();  // the event's id
        lost_records_ += body.u64();
        return;
      }
      case kRecordCompressed:
      case kRecordCompressed2:
        compressed_++;
        return;
      default:
        return;  // records about threads and programs
    }
  }

  // Identifies the event by the PMU names in the header, or by AUXTRACE_INFO if the header has no
  // names.
  void find_event() {
    const Event* found = nullptr;
    for (const Event& event : header_.events) {
      const bool is = header_.dtl_type ? event.type == *header_.dtl_type
                                       : dispatches_ && event.type > kLastFixedPmu;
      if (is && found == nullptr) found = &event;
    }
    if (found == nullptr) {
      throw Error("the file has no event of the PMU vpa_dtl")
          .hint("record it with: perf record -a -e vpa_dtl/dtl_all/, or: htmtrace dtl -o FILE");
    }
    content_.event = event_name(found->config);
    uint64_t period = found->period;
    if (found->is_frequency && period != 0) period = 1'000'000'000 / period;
    content_.period_ns = std::max(period, kLeastPeriodNs);
  }

  void take_chunk(const Record& record) {
    const AuxChunk chunk = parse_auxtrace(record, header_.big_endian, file_bytes_);
    payload_bytes_ = chunk.payload_bytes;
    cut_bytes_ += chunk.payload_bytes - chunk.at.size_bytes;
    const uint64_t there = chunk.at.size_bytes;
    if (chunk.cpu >= kMostCpus || chunk.position >= DtlSlots::kUnending - there) {
      strange_bytes_ += there;
      return;
    }
    const int cpu = static_cast<int>(chunk.cpu);
    content_.cpus.try_emplace(cpu);
    if (there != 0) {
      content_.chunks.push_back({.cpu = cpu, .position = chunk.position, .at = chunk.at});
    }
  }

  // A delivery is one read of the log by the driver.
  void take_delivery(std::span<const std::byte> body) {
    const Event* event = header_.event_of(body, /*sample=*/false);
    if (event == nullptr || event->type <= kLastFixedPmu) return;
    Fields values = fields(body);
    const uint64_t position = values.u64();
    const uint64_t size = values.u64();
    const uint64_t flags = values.u64();
    const auto number = trailer_cpu(body, *event, header_.big_endian);
    if (!values.good() || !number || *number >= kMostCpus) return;
    DtlPerfCpu& cpu = content_.cpus[static_cast<int>(*number)];
    const uint64_t time = trailer_time(body, *event, header_.big_endian).value_or(0);
    uint64_t entries = size / kDtlEntryBytes;
    if (cpu.totals.polls == 0 && position == 0 && entries != 0) entries--;  // the clock's slot
    cpu.totals.count_poll(time, entries);
    if ((flags & kMissing) != 0) cpu.totals.flagged.note(time);
    cpu.truncated = cpu.truncated || (flags & kNoRoom) != 0;
    cpu.delivered = position + size;
    if (size % kDtlEntryBytes != 0) take_end(position + size);
  }

  // The padding after the last slot of a pass is not a multiple of the slot size. The first
  // delivery with such a size therefore ends at the end of the area.
  void take_end(uint64_t position) {
    if (content_.area_bytes == DtlSlots::kUnending && std::has_single_bit(position) &&
        position >= kLeastAreaBytes) {
      content_.area_bytes = position;
    }
    if (position % content_.area_bytes != 0) unclear_ends_++;
  }

  uint64_t file_bytes_;
  const ReadAt& read_;
  Header header_;
  DtlPerfContent content_;
  TaskFinder tasks_{header_, content_.names, content_.switches};
  bool dispatches_ = false;     // AUXTRACE_INFO reports vpa_dtl
  uint64_t payload_bytes_ = 0;  // of the last AUXTRACE record
  uint64_t cut_bytes_ = 0, strange_bytes_ = 0, lost_records_ = 0, compressed_ = 0,
           unclear_ends_ = 0;
};

bool has_only_dispatches(const Header& header, const ReadAt& read) {
  const auto has = [&](const std::optional<uint32_t>& type) {
    return type && std::ranges::any_of(header.events,
                                       [&](const Event& event) { return event.type == *type; });
  };
  if (header.dtl_type || header.htm_type) return has(header.dtl_type) && !has(header.htm_type);
  RecordReader records(header.data, header.big_endian, read);
  while (const auto record = records.next()) {
    if (record->type == kRecordAuxtrace) break;
    if (record->type == kRecordAuxtraceInfo) {
      return Fields(record->body, header.big_endian).u32() == kVpaDtl;
    }
  }
  return false;
}

}  // namespace
}  // namespace htmtrace::perf_data

namespace htmtrace {

DtlPerfContent find_dispatches(uint64_t file_bytes, const ReadAt& read) {
  return perf_data::DispatchFinder(file_bytes, read).find();
}

bool has_only_dispatches(uint64_t file_bytes, const ReadAt& read) {
  return perf_data::has_only_dispatches(perf_data::read_header(file_bytes, read), read);
}

}  // namespace htmtrace

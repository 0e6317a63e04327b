// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/perf_data/file.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/base/error.h"
#include "core/perf_data/delivery.h"
#include "core/perf_data/records.h"

namespace htmtrace::perf_data {
namespace {

// config of an htm event: type, node, chip, core (format/ of the PMU; equal in all public versions
// of the driver).
std::optional<TraceTarget> target_of(uint64_t config) {
  const auto type = config & 0xf;
  if (type < 1 || type > 3) return std::nullopt;
  return TraceTarget{.node = static_cast<uint32_t>(config >> 4 & 0xff),
                     .chip = static_cast<uint32_t>(config >> 12 & 0xff),
                     .core = static_cast<uint32_t>(config >> 20 & 0xff),
                     .type = static_cast<HtmType>(type)};
}

// PERF_AUX_FLAG_* that mean a loss.
constexpr uint64_t kAuxTruncated = 1;
constexpr uint64_t kAuxPartial = 4;
constexpr uint64_t kAuxCollision = 8;

constexpr uint32_t kNoCpu = ~uint32_t{0};

class Finder {
 public:
  Finder(uint64_t file_bytes, const ReadAt& read)
      : file_bytes_(file_bytes), read_(read), header_(read_header(file_bytes, read)) {
    if (header_.events.empty()) throw Error("the file has no events");
  }

  PerfDataContent find() {
    RecordReader records(header_.data, header_.big_endian, read_);
    while (const auto record = records.next()) {
      take(*record);
      if (record->type == kRecordAuxtrace) records.pass(payload_bytes_);
    }
    if (records.left() != 0) {
      content_.missing.push_back(
          fmt::format("the last {} bytes are not records: the file is damaged", records.left()));
    } else if (header_.unfinished) {
      content_.missing.emplace_back("perf did not finish the file: its end may be missing");
    }
    tell_counts();
    deliver();
    return std::move(content_);
  }

 private:
  bool is_htm(const Event& event) const { return event.type == header_.htm_type; }

  void take(const Record& record) {
    switch (record.type) {
      case kRecordAuxtraceInfo:
        return take_info(fields(record.body));
      case kRecordAuxtrace:
        return take_chunk(record);
      case kRecordAux:
        return take_commit(record.body);
      case kRecordSample:
        return take_sample(record);
      case kRecordLost: {
        Fields body = fields(record.body);
        body.u64();  // the event's id
        lost_records_ += body.u64();
        return;
      }
      case kRecordLostSamples:
        lost_records_ += fields(record.body).u64();
        return;
      case kRecordThrottle:
        throttles_++;
        return;
      case kRecordCompressed:
      case kRecordCompressed2:
        compressed_++;
        return;
      default:
        return;  // side-band records hold no trace data
    }
  }

  Fields fields(std::span<const std::byte> bytes) const { return {bytes, header_.big_endian}; }

  // AUXTRACE_INFO from the second driver on: number of the PMU, then CPU and config of each event.
  // The type number of this record is not final, so its contents decide.
  void take_info(Fields body) {
    constexpr uint32_t kFirstUnknownType = 8;
    if (body.u32() < kFirstUnknownType) return;
    body.u32();
    const uint64_t pmu = body.u64();
    const bool known = std::any_of(header_.events.begin(), header_.events.end(),
                                   [&](const Event& event) { return event.type == pmu; });
    if (!body.good() || !known || (header_.htm_type && *header_.htm_type != pmu)) return;
    header_.htm_type = static_cast<uint32_t>(pmu);
    uint64_t count = body.u64();
    while (count-- != 0 && body.left() >= 2 * sizeof(uint64_t)) {
      const auto cpu = static_cast<uint32_t>(body.u64());
      const uint64_t config = body.u64();
      if (cpu < kMostCpus) config_of_cpu_[cpu] = config;
    }
  }

  // The data of an impossible CPU number has an unknown CPU.
  Delivery& delivery_of(std::optional<uint32_t> cpu) {
    return deliveries_[cpu && *cpu < kMostCpus ? *cpu : kNoCpu];
  }

  void take_chunk(const Record& record) {
    const AuxChunk chunk = parse_auxtrace(record, header_.big_endian, file_bytes_);
    payload_bytes_ = chunk.payload_bytes;
    Delivery& delivery = delivery_of(chunk.cpu);
    delivery.cut_bytes += chunk.payload_bytes - chunk.at.size_bytes;
    if (chunk.at.size_bytes != 0) delivery.chunks.push_back({chunk.position, chunk.at});
  }

  void take_commit(std::span<const std::byte> body) {
    const Event* event = header_.event_of(body, /*sample=*/false);
    if (event == nullptr || (header_.htm_type && !is_htm(*event))) return;
    Fields values = fields(body);
    const uint64_t position = values.u64();
    const uint64_t size = values.u64();
    const uint64_t flags = values.u64();
    if (!values.good()) return;
    const auto cpu = trailer_cpu(body, *event, header_.big_endian);
    Delivery& delivery = delivery_of(cpu);
    if (cpu && *cpu < kMostCpus && is_htm(*event)) config_of_cpu_.emplace(*cpu, event->config);
    delivery.commits.emplace_back(position, size);
    delivery.truncated += (flags & kAuxTruncated) != 0 ? 1 : 0;
    delivery.partial += (flags & kAuxPartial) != 0 ? 1 : 0;
    delivery.collisions += (flags & kAuxCollision) != 0 ? 1 : 0;
  }

  void take_sample(const Record& record) {
    const Event* event = header_.event_of(record.body, /*sample=*/true);
    if (event == nullptr || (header_.htm_type && !is_htm(*event))) return;
    const auto sample = parse_sample(fields(record.body), event->sample_type);
    if (!sample) {
      unread_samples_++;
      return;
    }
    if (sample->cpu && *sample->cpu < kMostCpus && is_htm(*event)) {
      config_of_cpu_.emplace(*sample->cpu, event->config);
    }
    Delivery& delivery = delivery_of(sample->cpu);
    const auto raw = record.body.subspan(sample->raw_offset, sample->raw_bytes);
    if (raw.size() == sizeof(uint32_t)) {
      delivery.dumps = fields(raw).u32();
    } else if (const uint64_t size = map_block_bytes(raw, raw.size()); size != 0) {
      delivery.blocks.push_back({record.offset + 8 + sample->raw_offset, size});
    } else {
      unread_samples_++;
    }
  }

  void tell_counts() {
    const auto tell = [&](uint64_t count, const char* what) {
      if (count != 0) content_.missing.push_back(fmt::format("{} {}", count, what));
    };
    tell(lost_records_, "records were lost during the recording");
    tell(throttles_, "times the kernel interrupted an event");
    tell(compressed_, "compressed records are not read (perf record -z)");
    tell(unread_samples_, "samples hold other data than a memory map");
  }

  // Assigns the deliveries to the targets.
  void deliver() {
    if (!header_.htm_type) {
      throw Error("the file does not identify its events of the PMU htm")
          .hint("record again and end perf with Ctrl-C: it writes this information at its end");
    }
    std::map<uint64_t, Delivery*> by_config;
    std::set<uint64_t> configs;
    for (const Event& event : header_.events) {
      if (is_htm(event)) configs.insert(event.config);
    }
    if (configs.empty()) throw Error("the file has no event of the PMU htm");
    for (auto& [cpu, delivery] : deliveries_) {
      const auto found = config_of_cpu_.find(cpu);
      if (found == config_of_cpu_.end() && configs.size() > 1) {
        tell_orphan(cpu, delivery);
        continue;
      }
      const uint64_t config = configs.size() == 1 ? *configs.begin() : found->second;
      const auto [place, added] = by_config.emplace(config, &delivery);
      if (!added) place->second->add(delivery);
    }
    for (const uint64_t config : configs) {
      const auto target = target_of(config);
      if (!target) {
        content_.missing.push_back(fmt::format("an event with config {:#x} has no target", config));
        continue;
      }
      const auto found = by_config.find(config);
      Delivery nothing;
      Delivery& delivery = found == by_config.end() ? nothing : *found->second;
      content_.traces.push_back(trace_of(*target, delivery, file_bytes_, read_));
    }
    std::sort(content_.traces.begin(), content_.traces.end(),
              [](const PerfDataTrace& a, const PerfDataTrace& b) { return order(a) < order(b); });
  }

  static std::tuple<uint32_t, uint32_t, uint32_t, HtmType> order(const PerfDataTrace& trace) {
    return {trace.target.node, trace.target.chip, trace.target.core, trace.target.type};
  }

  void tell_orphan(uint32_t cpu, const Delivery& delivery) {
    const uint64_t bytes = delivery.trace_bytes();
    if (bytes == 0 && delivery.blocks.empty()) return;
    content_.missing.push_back(
        fmt::format("{} bytes of AUX data from CPU {} belong to no known event", bytes,
                    cpu == kNoCpu ? "?" : std::to_string(cpu)));
  }

  uint64_t file_bytes_;
  const ReadAt& read_;
  Header header_;
  PerfDataContent content_;
  std::map<uint32_t, Delivery> deliveries_;  // keyed by CPU
  std::map<uint32_t, uint64_t> config_of_cpu_;
  uint64_t payload_bytes_ = 0;  // of the last AUXTRACE record
  uint64_t lost_records_ = 0;
  uint64_t throttles_ = 0;
  uint64_t compressed_ = 0;
  uint64_t unread_samples_ = 0;
};

}  // namespace
}  // namespace htmtrace::perf_data

namespace htmtrace {

PerfDataContent find_traces(uint64_t file_bytes, const ReadAt& read) {
  return perf_data::Finder(file_bytes, read).find();
}

}  // namespace htmtrace

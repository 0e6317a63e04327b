// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/generator/perf_data_file.h"

#include <algorithm>

namespace htmtrace::generator {
namespace {

constexpr uint64_t kHeaderBytes = 104;
constexpr uint64_t kAttrBytes = 112;
constexpr uint64_t kSampleType = 0x10487;  // IDENTIFIER, IP, TID, TIME, CPU, RAW
constexpr unsigned kSampleIdAll = 18;

// Records.
constexpr uint32_t kLost = 2;
constexpr uint32_t kSample = 9;
constexpr uint32_t kAux = 11;
constexpr uint32_t kFinishedRound = 68;
constexpr uint32_t kAuxtraceInfo = 70;
constexpr uint32_t kAuxtrace = 71;

// Features.
constexpr unsigned kArch = 6;
constexpr unsigned kEventDesc = 12;
constexpr unsigned kPmuMappings = 16;

uint64_t big_endian_at(std::span<const std::byte> bytes, size_t at) {
  uint64_t value = 0;
  for (size_t i = 0; i < 8; i++) value = value << 8 | std::to_integer<uint64_t>(bytes[at + i]);
  return value;
}

void append(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

}  // namespace

std::span<const std::byte> first_map_block(std::span<const std::byte> map) {
  return map.first(32 + 32 * static_cast<size_t>(big_endian_at(map, 16)));
}

PerfDataFile::PerfDataFile(std::vector<Event> events, Wishes wishes)
    : events_(std::move(events)), wishes_(wishes) {
  Bytes info;
  put(info, wishes_.dispatches ? 7 : wishes_.pairs ? 8 : 0, 4);
  put(info, 0, 4);
  if (wishes_.dispatches) {
    put(info, 0, 8);
  } else if (wishes_.pairs) {
    put(info, kHtmPmu, 8);
    const auto htm = static_cast<uint64_t>(std::count_if(
        events_.begin(), events_.end(), [](const Event& event) { return event.pmu == kHtmPmu; }));
    put(info, htm, 8);
    for (const Event& event : events_) {
      if (event.pmu != kHtmPmu) continue;
      put(info, event.cpu, 8);
      put(info, event.config, 8);
    }
  }
  record(kAuxtraceInfo, info);
}

void PerfDataFile::put(Bytes& to, uint64_t value, unsigned size) const {
  for (unsigned i = 0; i < size; i++) {
    const unsigned place = wishes_.big_endian ? size - 1 - i : i;
    to.push_back(static_cast<std::byte>(value >> 8 * place));
  }
}

void PerfDataFile::put_text(Bytes& to, const std::string& text) const {
  const size_t room = (text.size() + 1 + 63) / 64 * 64;
  put(to, room, 4);
  for (size_t i = 0; i < room; i++) {
    to.push_back(static_cast<std::byte>(i < text.size() ? text[i] : 0));
  }
}

void PerfDataFile::put_attr(Bytes& to, const Event& event) const {
  const size_t begin = to.size();
  put(to, event.pmu, 4);
  put(to, kAttrBytes, 4);
  put(to, event.config, 8);
  put(to, 1, 8);  // period
  put(to, kSampleType, 8);
  put(to, 0, 8);
  put(to, uint64_t{1} << (wishes_.big_endian ? 63 - kSampleIdAll : kSampleIdAll), 8);
  to.resize(begin + kAttrBytes);
}

void PerfDataFile::record(uint32_t type, const Bytes& body, uint16_t misc) {
  put(data_, type, 4);
  put(data_, misc, 2);
  put(data_, body.size() + 8, 2);
  append(data_, body);
}

// The end of each record that is no sample.
void PerfDataFile::put_identity(Bytes& to, size_t event, uint64_t task, uint64_t ns) const {
  put_task(to, task);
  put(to, ns, 8);
  put(to, events_.at(event).cpu, 4);
  put(to, 0, 4);
  put(to, id_of(event), 8);
}

void PerfDataFile::put_task(Bytes& to, uint64_t task) const {
  put(to, task >> 32, 4);
  put(to, task & 0xffffffff, 4);
}

// PERF_RECORD_SWITCH_CPU_WIDE, of the task that goes and of the one that comes.
void PerfDataFile::switched(size_t event, uint64_t ns, uint64_t from, uint64_t to) {
  constexpr uint32_t kSwitchCpuWide = 15;
  constexpr uint16_t kOut = 1 << 13;
  Bytes out, in;
  put_task(out, to);
  put_identity(out, event, from, ns);
  record(kSwitchCpuWide, out, kOut);
  put_task(in, from);
  put_identity(in, event, to, ns + 1);
  record(kSwitchCpuWide, in);
}

void PerfDataFile::named(uint64_t task, const std::string& name) {
  constexpr uint32_t kComm = 3;
  Bytes body;
  put_task(body, task);
  for (size_t i = 0; i < (name.size() + 8) / 8 * 8; i++) {
    body.push_back(static_cast<std::byte>(i < name.size() ? name[i] : 0));
  }
  put_identity(body, 0);
  record(kComm, body);
}

void PerfDataFile::lost(uint64_t count) {
  Bytes body;
  put(body, id_of(0), 8);
  put(body, count, 8);
  put_identity(body, 0);
  record(kLost, body);
}

void PerfDataFile::aux(size_t event, uint64_t position, uint64_t size, uint64_t flags) {
  Bytes body;
  put(body, position, 8);
  put(body, size, 8);
  put(body, flags, 8);
  put_identity(body, event);
  record(kAux, body);
}

void PerfDataFile::auxtrace(size_t event, uint64_t position, std::span<const std::byte> bytes) {
  Bytes body;
  put(body, bytes.size(), 8);
  put(body, position, 8);
  put(body, 0, 8);
  put(body, event, 4);
  put(body, 0xffffffff, 4);
  put(body, events_.at(event).cpu, 4);
  put(body, 0, 4);
  record(kAuxtrace, body);
  append(data_, bytes);
}

void PerfDataFile::sample(size_t event, std::span<const std::byte> payload) {
  Bytes body;
  put(body, id_of(event), 8);
  put(body, 0xc000000000001000, 8);
  put(body, 0, 8);
  put(body, 1000, 8);
  put(body, events_.at(event).cpu, 4);
  put(body, 0, 4);
  // Size and payload together are filled up to a multiple of 8.
  const size_t whole = (payload.size() + 4 + 7) / 8 * 8;
  put(body, whole - 4, 4);
  append(body, payload);
  body.resize(body.size() + whole - 4 - payload.size());
  record(kSample, body);
}

void PerfDataFile::deliver(size_t event, std::span<const std::byte> trace,
                           std::span<const std::byte> map, size_t piece_bytes) {
  for (size_t at = 0; at < trace.size(); at += piece_bytes) {
    const auto piece = trace.subspan(at, std::min(piece_bytes, trace.size() - at));
    aux(event, at, piece.size(), 0);
    auxtrace(event, at, piece);
    record(kFinishedRound, {});
  }
  while (!map.empty()) {
    const auto block = first_map_block(map);
    sample(event, block);
    map = map.subspan(block.size());
  }
}

void PerfDataFile::deliver_first(size_t event, std::span<const std::byte> trace,
                                 std::span<const std::byte> map, size_t aux_bytes) {
  uint64_t position = 0;
  uint32_t dumps = 0;
  for (; position < trace.size(); position += aux_bytes, dumps++) {
    Bytes dump(aux_bytes);
    const auto piece = trace.subspan(position, std::min(aux_bytes, trace.size() - position));
    std::copy(piece.begin(), piece.end(), dump.begin());
    aux(event, position, aux_bytes, 0);
    auxtrace(event, position, dump);
  }
  while (!map.empty()) {
    const auto block = first_map_block(map);
    Bytes committed(block.begin(), block.end());
    // The block that crosses the half of the ring takes all of it; the rest of the ring is stale.
    if (position % aux_bytes + block.size() > aux_bytes / 2) {
      committed.resize(aux_bytes - position % aux_bytes, std::byte{0xab});
    }
    aux(event, position, committed.size(), 0);
    auxtrace(event, position, committed);
    position += committed.size();
    map = map.subspan(block.size());
  }
  Bytes marker;
  put(marker, dumps, 4);
  sample(event, marker);
}

PerfDataFile::Bytes PerfDataFile::event_names() const {
  Bytes bytes;
  put(bytes, events_.size(), 4);
  put(bytes, kAttrBytes, 4);
  for (size_t i = 0; i < events_.size(); i++) {
    put_attr(bytes, events_[i]);
    put(bytes, 1, 4);
    put_text(bytes, events_[i].name);
    put(bytes, id_of(i), 8);
  }
  return bytes;
}

PerfDataFile::Bytes PerfDataFile::pmu_names() const {
  Bytes bytes;
  put(bytes, 3, 4);
  put(bytes, 1, 4);
  put_text(bytes, "software");
  put(bytes, kHtmPmu, 4);
  put_text(bytes, "htm");
  put(bytes, kDtlPmu, 4);
  put_text(bytes, "vpa_dtl");
  return bytes;
}

std::vector<std::byte> PerfDataFile::finish() const {
  const uint64_t ids = kHeaderBytes;
  const uint64_t attrs = ids + events_.size() * 8;
  const uint64_t attrs_bytes = events_.size() * (kAttrBytes + 16);
  const uint64_t data = attrs + attrs_bytes;
  std::vector<Bytes> features;
  uint64_t bits = 0;
  if (wishes_.names && !wishes_.unfinished) {
    Bytes arch;
    put_text(arch, wishes_.big_endian ? "ppc64" : "ppc64le");
    features = {arch, event_names(), pmu_names()};
    bits = uint64_t{1} << kArch | uint64_t{1} << kEventDesc | uint64_t{1} << kPmuMappings;
  }
  Bytes file;
  put(file, 0x32454c4946524550, 8);  // "PERFILE2", the first letter in the lowest byte
  put(file, kHeaderBytes, 8);
  put(file, kAttrBytes + 16, 8);
  for (const uint64_t value : {attrs, attrs_bytes, data}) put(file, value, 8);
  put(file, wishes_.unfinished ? 0 : data_.size(), 8);
  put(file, 0, 8);
  put(file, 0, 8);
  put(file, bits, 8);
  file.resize(kHeaderBytes);
  for (size_t i = 0; i < events_.size(); i++) put(file, id_of(i), 8);
  for (size_t i = 0; i < events_.size(); i++) {
    put_attr(file, events_[i]);
    put(file, ids + i * 8, 8);
    put(file, 8, 8);
  }
  append(file, data_);
  uint64_t at = data + data_.size() + features.size() * 16;
  for (const Bytes& feature : features) {
    put(file, at, 8);
    put(file, feature.size(), 8);
    at += feature.size();
  }
  for (const Bytes& feature : features) append(file, feature);
  return file;
}

}  // namespace htmtrace::generator

// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/perf_data/header.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/base/error.h"

namespace htmtrace::perf_data {
namespace {

// "PERFILE2" as a little-endian machine writes it.
constexpr std::array<char, kPerfDataMagicBytes> kMagic = {'P', 'E', 'R', 'F', 'I', 'L', 'E', '2'};

constexpr size_t kHeaderBytes = 104;
constexpr uint64_t kPipeHeaderBytes = 16;

// Size limits of a perf_event_attr.
constexpr uint64_t kLeastAttrBytes = 64;
constexpr uint64_t kMostAttrBytes = 4096;
constexpr uint64_t kIdsBytes = 16;  // extent of the event's ids, after its perf_event_attr
// Bits of the flags in a perf_event_attr, which are a bit field.
constexpr unsigned kFrequency = 10;
constexpr unsigned kSampleIdAll = 18;
constexpr unsigned kUseClockId = 25;

// Numbers of features.
constexpr unsigned kOsRelease = 4;
constexpr unsigned kEventDesc = 12;
constexpr unsigned kPmuMappings = 16;

constexpr uint64_t kMostSectionBytes = 64 << 20;
constexpr std::string_view kHtm = "htm";
constexpr std::string_view kDtl = "vpa_dtl";

bool has_magic(std::span<const std::byte> bytes, bool reversed) {
  for (size_t i = 0; i < kMagic.size(); i++) {
    const char wanted = kMagic.at(reversed ? kMagic.size() - 1 - i : i);
    if (static_cast<char>(bytes[i]) != wanted) return false;
  }
  return true;
}

class HeaderReader {
 public:
  HeaderReader(uint64_t file_bytes, const ReadAt& read) : file_bytes_(file_bytes), read_(read) {}

  Header take() {
    const std::vector<std::byte> bytes = section({0, kHeaderBytes}, "header");
    if (!is_perf_data(bytes)) throw Error("not a perf.data file");
    header_.big_endian = has_magic(bytes, /*reversed=*/true);
    Fields fields = fields_of(bytes);
    fields.skip(kPerfDataMagicBytes);
    if (fields.u64() == kPipeHeaderBytes) {
      throw Error("the pipe format of perf record is not supported")
          .hint("write a file: perf record -o FILE");
    }
    const uint64_t attr_bytes = fields.u64();
    const FileExtent attrs = extent(fields);
    header_.data = extent(fields);
    extent(fields);  // event types, only in old files
    std::array<uint64_t, 4> features{};
    for (uint64_t& word : features) word = fields.u64();
    read_events(attrs, attr_bytes);
    header_.unfinished = header_.data.size_bytes == 0;
    if (header_.data.offset > file_bytes_)
      throw Error("the data section extends past the end of the file");
    const uint64_t most = file_bytes_ - header_.data.offset;
    if (header_.unfinished || header_.data.size_bytes > most) {
      header_.unfinished = true;
      header_.data.size_bytes = most;
    } else {
      read_features(features);
    }
    return std::move(header_);
  }

 private:
  Fields fields_of(std::span<const std::byte> bytes) const { return {bytes, header_.big_endian}; }

  static FileExtent extent(Fields& fields) {
    const uint64_t offset = fields.u64();
    return {offset, fields.u64()};
  }

  std::optional<std::vector<std::byte>> bytes_at(const FileExtent& at) {
    if (at.size_bytes > kMostSectionBytes || at.offset > file_bytes_ ||
        at.size_bytes > file_bytes_ - at.offset) {
      return std::nullopt;
    }
    std::vector<std::byte> bytes(at.size_bytes);
    if (read_(at.offset, bytes) != bytes.size()) return std::nullopt;
    return bytes;
  }

  std::vector<std::byte> section(const FileExtent& at, const char* name) {
    auto bytes = bytes_at(at);
    if (!bytes) throw Error(fmt::format("the {} is cut off or damaged", name));
    return std::move(*bytes);
  }

  void read_events(const FileExtent& attrs, uint64_t attr_bytes) {
    if (attr_bytes < kLeastAttrBytes + kIdsBytes || attr_bytes > kMostAttrBytes ||
        attrs.size_bytes % attr_bytes != 0) {
      throw Error("the list of events is damaged");
    }
    const std::vector<std::byte> bytes = section(attrs, "list of events");
    for (size_t at = 0; at < bytes.size(); at += attr_bytes) {
      const auto entry = std::span(bytes).subspan(at, attr_bytes);
      const Event event = read_attr(fields_of(entry));
      Fields ids = fields_of(entry.last(kIdsBytes));
      read_ids(extent(ids));
      header_.events.push_back(event);
    }
    // Of two events with the same identifier, the first counts.
    std::ranges::sort(header_.ids);
  }

  Event read_attr(Fields fields) const {
    Event event;
    event.type = fields.u32();
    fields.u32();  // size
    event.config = fields.u64();
    event.period = fields.u64();
    event.sample_type = fields.u64();
    fields.u64();  // read_format
    // A compiler fills bit fields from the first byte on, in the byte order of the machine.
    const uint64_t flags = fields.u64();
    const auto flag = [&](unsigned bit) {
      return (flags >> (header_.big_endian ? 63 - bit : bit) & 1) != 0;
    };
    event.is_frequency = flag(kFrequency);
    event.sample_id_all = flag(kSampleIdAll);
    event.other_clock = flag(kUseClockId);
    return event;
  }

  void read_ids(const FileExtent& at) {
    const std::vector<std::byte> bytes = section(at, "list of event ids");
    // Each event has a list of its own, so all lists together are smaller than the file.
    ids_bytes_ += bytes.size();
    if (ids_bytes_ > file_bytes_) throw Error("the lists of event ids overlap");
    Fields fields = fields_of(bytes);
    while (fields.left() >= sizeof(uint64_t)) {
      header_.ids.emplace_back(fields.u64(), header_.events.size());
    }
  }

  // The table of features follows the records and has an entry for each set bit. Unreadable
  // features are no error, because they only supply names.
  void read_features(const std::array<uint64_t, 4>& features) {
    FileExtent entry{header_.data.offset + header_.data.size_bytes, kIdsBytes};
    for (unsigned bit = 0; bit < features.size() * 64; bit++) {
      if ((features.at(bit / 64) >> bit % 64 & 1) == 0) continue;
      const auto row = bytes_at(entry);
      if (!row) return;
      entry.offset += entry.size_bytes;
      Fields fields = fields_of(*row);
      const FileExtent at = extent(fields);
      if (bit != kPmuMappings && bit != kEventDesc && bit != kOsRelease) continue;
      const auto payload = bytes_at(at);
      if (!payload) continue;
      if (bit == kOsRelease) header_.kernel = fields_of(*payload).text();
      if (bit == kPmuMappings) read_pmu_names(*payload);
      if (bit == kEventDesc) read_event_names(*payload);
    }
  }

  void read_pmu_names(std::span<const std::byte> bytes) {
    Fields fields = fields_of(bytes);
    for (uint32_t left = fields.u32(); left != 0 && fields.good(); left--) {
      const uint32_t type = fields.u32();
      const std::string name = fields.text();
      if (name == kHtm && fields.good()) header_.htm_type = type;
      if (name == kDtl && fields.good()) header_.dtl_type = type;
    }
  }

  // "htm/.../" is an event of that PMU.
  static bool is_event_of(std::string_view pmu, std::string_view name) {
    return name.starts_with(pmu) && name.size() > pmu.size() &&
           (name[pmu.size()] == '/' || name[pmu.size()] == '_');
  }

  void read_event_names(std::span<const std::byte> bytes) {
    Fields fields = fields_of(bytes);
    const uint32_t count = fields.u32();
    const uint32_t attr_bytes = fields.u32();
    for (uint32_t left = count; left != 0 && fields.good(); left--) {
      const uint32_t type = fields.u32();
      fields.skip(uint64_t{attr_bytes} - std::min<uint64_t>(attr_bytes, sizeof(type)));
      const uint32_t ids = fields.u32();
      const std::string name = fields.text();
      fields.skip(uint64_t{ids} * sizeof(uint64_t));
      if (!fields.good()) return;
      if (is_event_of(kHtm, name) && !header_.htm_type) header_.htm_type = type;
      if (is_event_of(kDtl, name) && !header_.dtl_type) header_.dtl_type = type;
    }
  }

  uint64_t file_bytes_;
  const ReadAt& read_;
  Header header_;
  uint64_t ids_bytes_ = 0;
};

}  // namespace

std::string Fields::text() {
  const uint32_t size = u32();
  if (size > left()) good_ = false;
  if (!good_) return {};
  std::string text(reinterpret_cast<const char*>(bytes_.data()) + at_, size);
  at_ += size;
  return text.substr(0, text.find('\0'));
}

const Event* Header::event_of(std::span<const std::byte> body, bool sample) const {
  if (events.empty()) return nullptr;
  if (events.size() == 1) return &events.front();
  constexpr size_t kIdBytes = sizeof(uint64_t);
  if ((events.front().sample_type & kSampleIdentifier) == 0 || body.size() < kIdBytes) {
    return nullptr;
  }
  const uint64_t id = Fields(sample ? body.first(kIdBytes) : body.last(kIdBytes), big_endian).u64();
  const auto found = std::ranges::lower_bound(ids, std::pair(id, size_t{0}));
  return found == ids.end() || found->first != id ? nullptr : &events[found->second];
}

Header read_header(uint64_t file_bytes, const ReadAt& read) {
  return HeaderReader(file_bytes, read).take();
}

}  // namespace htmtrace::perf_data

namespace htmtrace {

bool is_perf_data(std::span<const std::byte> first_bytes) {
  return first_bytes.size() >= kPerfDataMagicBytes &&
         (perf_data::has_magic(first_bytes, false) || perf_data::has_magic(first_bytes, true));
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/export/perf_file.h"

namespace htmtrace::perf_file {

void put16(FileBytes& to, uint16_t value) {
  to.push_back(static_cast<std::byte>(value));
  to.push_back(static_cast<std::byte>(value >> 8));
}

void put32(FileBytes& to, uint64_t value) {
  put16(to, static_cast<uint16_t>(value));
  put16(to, static_cast<uint16_t>(value >> 16));
}

void put64(FileBytes& to, uint64_t value) {
  put32(to, value);
  put32(to, value >> 32);
}

void put_bytes(FileBytes& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

void put_padded(FileBytes& to, std::string_view text, size_t unit) {
  put_bytes(to, std::as_bytes(std::span(text)));
  to.resize(to.size() + unit - text.size() % unit);
}

void put_string(FileBytes& to, std::string_view text) {
  put32(to, (text.size() / kStringUnit + 1) * kStringUnit);
  put_padded(to, text, kStringUnit);
}

FileBytes host_name() {
  FileBytes name;
  put_string(name, "unknown");  // no trace has the name of its machine
  return name;
}

void put_record_header(FileBytes& to, uint32_t type, size_t bytes, uint16_t misc) {
  put64(to, record_header(type, misc, bytes));
}

void put_header(FileBytes& to, Section attributes, Section data, uint64_t features) {
  put_bytes(to, std::as_bytes(std::span(std::string_view("PERFILE2"))));
  constexpr uint64_t kAttributeEntryBytes = kAttributeBytes + 16;  // with the section of its ids
  for (const uint64_t word : {uint64_t{kHeaderBytes}, kAttributeEntryBytes, attributes.begin,
                              attributes.size_bytes, data.begin, data.size_bytes, uint64_t{0},
                              uint64_t{0}, features, uint64_t{0}, uint64_t{0}, uint64_t{0}}) {
    put64(to, word);
  }
}

void put_features(FileBytes& to, uint64_t begin, std::span<const FileBytes> features) {
  uint64_t offset = begin + features.size() * 16;
  for (const FileBytes& feature : features) {
    put64(to, offset);
    put64(to, feature.size());
    offset += feature.size();
  }
  for (const FileBytes& feature : features) put_bytes(to, feature);
}

}  // namespace htmtrace::perf_file

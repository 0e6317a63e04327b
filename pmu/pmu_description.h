// SPDX-License-Identifier: GPL-2.0-or-later
// What the kernel says about a PMU in sysfs: its number, where the bits of each term go, and its
// named events (Documentation/ABI/testing/sysfs-bus-event_source-devices-{format,events}).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pmu/event_attr.h"

namespace htmtrace {

inline constexpr const char* kPmuRoot = "/sys/bus/event_source/devices";

// A term of an event: which bits of which config word take its value. The value's lowest bits go
// into the first range ("config1:0-7,32-35" puts bits 0..7 low and bits 8..11 at 32).
struct FormatField {
  struct Range {
    unsigned low = 0;
    unsigned high = 0;  // inclusive
  };
  size_t word = 0;  // 0 is config, 1 is config1 ...
  std::vector<Range> ranges;

  // The largest value that fits.
  uint64_t max() const;
};

// Parses the text of a format file. Throws Error that names `where`.
FormatField parse_format_field(std::string_view text, const std::string& where);

class PmuDescription {
 public:
  // Reads ROOT/NAME. Throws Error when there is no such PMU or its files make no sense.
  static PmuDescription read(const std::filesystem::path& root, const std::string& name);

  // False when the PMU is not there at all.
  static bool exists(const std::filesystem::path& root, const std::string& name);

  const std::string& name() const { return name_; }
  uint32_t type() const { return type_; }
  bool has_event(const std::string& event) const { return events_.contains(event); }
  std::vector<std::string> event_names() const;
  // Names and texts as in sysfs: "htm_core" "event=0x02", "nodeindex" "config:4-11".
  const std::map<std::string, std::string>& events() const { return events_; }
  const std::map<std::string, std::string>& terms() const { return terms_; }

  // Stores `value` into the bits of `term`. Throws Error when the PMU has no such term or the value
  // is too large for it.
  void store(EventAttr& attr, const std::string& term, uint64_t value) const;

  // Stores the terms of a named event, such as "event=0x02". Throws Error when there is none.
  void store_event(EventAttr& attr, const std::string& event) const;

 private:
  std::string name_;
  uint32_t type_ = 0;
  std::map<std::string, FormatField> fields_;
  std::map<std::string, std::string> terms_;  // the texts that fields_ was made of
  std::map<std::string, std::string> events_;
};

}  // namespace htmtrace

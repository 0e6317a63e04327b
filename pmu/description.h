// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's description of a PMU in sysfs: its type number, the bits of each term, and its named
// events (Documentation/ABI/testing/sysfs-bus-event_source-devices-{format,events}).
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

// The bits of a config word that hold the value of a term. The value's lowest bits go into the
// first range ("config1:0-7,32-35" puts bits 0..7 at bit 0 and bits 8..11 at bit 32).
struct FormatField {
  struct Range {
    unsigned low = 0;
    unsigned high = 0;  // inclusive
  };
  size_t word = 0;  // 0 is config, 1 is config1 ...
  std::vector<Range> ranges;

  // The largest value of the term.
  uint64_t max() const;
};

// Parses the text of a format file. Throws Error with the subject `where`.
FormatField parse_format_field(std::string_view text, const std::string& where);

class PmuDescription {
 public:
  // Reads ROOT/NAME. Throws Error if the PMU does not exist or its files are invalid.
  static PmuDescription read(const std::filesystem::path& root, const std::string& name);

  // False if the PMU does not exist.
  static bool exists(const std::filesystem::path& root, const std::string& name);

  const std::string& name() const { return name_; }
  uint32_t type() const { return type_; }
  std::vector<std::string> event_names() const;
  // Names and texts as in sysfs: "htm_core" "event=0x02", "nodeindex" "config:4-11".
  const std::map<std::string, std::string>& events() const { return events_; }
  const std::map<std::string, std::string>& terms() const { return terms_; }

  // Stores `value` into the bits of `term`. Throws Error if the PMU has no such term or the value
  // is too large.
  void store(EventAttr& attr, const std::string& term, uint64_t value) const;

  // Stores the terms of a named event, such as "event=0x02". Throws Error if the PMU has no such
  // event.
  void store_event(EventAttr& attr, const std::string& event) const;

 private:
  std::string name_;
  uint32_t type_ = 0;
  std::map<std::string, FormatField> fields_;
  std::map<std::string, std::string> terms_;  // source texts of fields_
  std::map<std::string, std::string> events_;
};

}  // namespace htmtrace

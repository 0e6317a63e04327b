// SPDX-License-Identifier: GPL-2.0-or-later
// Two traces side by side. Counts are compared by their share of all, because no two traces are of
// the same length. htmtrace-diff(1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "output/decode_report.h"

namespace htmtrace {

struct DiffSide {
  std::string name;
  size_t traces = 0;
  DecodeTotals totals;
};

// Something that is counted on either side.
struct DiffPart {
  std::string name;                 // by which both sides are joined
  std::optional<uint64_t> address;  // where it is, for people
  std::string symbol;               // of the address, if the name does not say it
  uint64_t count = 0;
};

// Of one side.
struct DiffCounts {
  uint64_t whole = 0;  // of which the parts are shares
  uint64_t error = 0;  // counts may be too small by so many
  std::vector<DiffPart> parts;
};

struct DiffRow {
  std::string name;
  std::optional<uint64_t> address;  // of the later one, if it is there
  std::string symbol;
  uint64_t before = 0;
  uint64_t after = 0;
};

struct DiffTable {
  std::string key;          // for programs: "code"
  std::string title;        // for people: "code: functions, or lines of 128 bytes"
  uint64_t unit_bytes = 0;  // of data
  uint64_t before_whole = 0;
  uint64_t after_whole = 0;
  uint64_t before_error = 0;
  uint64_t after_error = 0;
  std::vector<DiffRow> rows;  // the largest change of shares first

  // In percent of the whole; what came minus what went.
  double before_share(const DiffRow& row) const;
  double after_share(const DiffRow& row) const;
  double change(const DiffRow& row) const { return after_share(row) - before_share(row); }
};

struct DiffTitle {
  std::string key;
  std::string title;
  uint64_t unit_bytes = 0;
};
// Parts of the same name are added up.
DiffTable compare(const DiffTitle& title, const DiffCounts& before, const DiffCounts& after);

struct DiffReport {
  DiffSide before;
  DiffSide after;
  std::string what;  // is compared: "instructions"
  std::vector<DiffTable> tables;
  size_t top = 20;

  std::string to_text() const;
  std::string to_json() const;
  std::string to_csv() const;
};

// "new", "gone", or nothing when it is on both sides.
std::string_view diff_remark(const DiffRow& row);

}  // namespace htmtrace

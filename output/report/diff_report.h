// SPDX-License-Identifier: GPL-2.0-or-later
// Compares two traces. Traces differ in length, so counts are compared by their share of the whole.
// htmtrace-diff(1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "output/report/decode_report.h"

namespace htmtrace {

struct DiffSide {
  std::string name;
  size_t traces = 0;
  DecodeTotals totals;
};

// An item that is counted on both sides.
struct DiffPart {
  std::string name;                 // joins the two sides
  std::optional<uint64_t> address;  // the item's address, for people
  std::string symbol;               // symbol of the address, if the name does not state it
  uint64_t count = 0;
};

// The counts of one side.
struct DiffCounts {
  uint64_t whole = 0;  // the shares of the parts refer to this count
  uint64_t error = 0;  // counts may be too small by up to this number
  std::vector<DiffPart> parts;
};

struct DiffRow {
  std::string name;
  std::optional<uint64_t> address;  // the address in the later trace, if present there
  std::string symbol;
  uint64_t before = 0;
  uint64_t after = 0;
};

struct DiffTable {
  std::string key;          // for programs: "code"
  std::string title;        // for people: "code: functions, or lines of 128 bytes"
  uint64_t unit_bytes = 0;  // unit size of data
  uint64_t before_whole = 0;
  uint64_t after_whole = 0;
  uint64_t before_error = 0;
  uint64_t after_error = 0;
  std::vector<DiffRow> rows;  // sorted by change of share, largest first

  // In percent of the whole. The change is the later share minus the earlier share.
  double before_share(const DiffRow& row) const;
  double after_share(const DiffRow& row) const;
  double change(const DiffRow& row) const { return after_share(row) - before_share(row); }
};

struct DiffTitle {
  std::string key;
  std::string title;
  uint64_t unit_bytes = 0;
};
// Adds up parts of the same name.
DiffTable compare(const DiffTitle& title, const DiffCounts& before, const DiffCounts& after);

struct DiffReport {
  DiffSide before;
  DiffSide after;
  std::string what;  // the compared items: "instructions"
  std::vector<DiffTable> tables;
  size_t top = 20;

  std::string to_text() const;
  std::string to_json() const;
  std::string to_csv() const;
};

// Returns "new", "gone", or an empty text for a row on both sides.
std::string_view diff_remark(const DiffRow& row);

}  // namespace htmtrace

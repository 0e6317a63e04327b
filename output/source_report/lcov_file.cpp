// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/source_report/lcov_file.h"

#include <fmt/core.h>

#include <iterator>
#include <string>

namespace htmtrace {
namespace {

// The numbers of one source, which is also a total.
class SourceRecord {
 public:
  SourceRecord(const std::string& path, const SourceCoverage::Source& source, TextOutput& output)
      : output_(output) {
    put("TN:\nSF:{}\n", path);
    put_functions(source);
    put_branches(source);
    put_lines(source);
    put("end_of_record\n");
  }

  const LcovTotals& totals() const { return totals_; }

 private:
  template <class... Values>
  void put(fmt::format_string<Values...> format, Values&&... values) {
    text_.clear();
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    output_.put(text_);
  }

  void put_functions(const SourceCoverage::Source& source) {
    for (const auto& [name, function] : source.functions) put("FN:{},{}\n", function.line, name);
    for (const auto& [name, function] : source.functions) {
      put("FNDA:{},{}\n", function.count, name);
      totals_.functions++;
      if (function.count != 0) totals_.executed_functions++;
    }
    put("FNF:{}\nFNH:{}\n", totals_.functions, totals_.executed_functions);
  }

  void put_branches(const SourceCoverage::Source& source) {
    for (const auto& [line, branches] : source.branches) {
      for (size_t i = 0; i < branches.size(); i++) {
        const SourceCoverage::Branch& branch = branches[i];
        put_direction(line, i, 0, branch.is_reached, branch.taken);
        put_direction(line, i, 1, branch.is_reached, branch.not_taken);
      }
    }
    put("BRF:{}\nBRH:{}\n", totals_.directions, totals_.executed_directions);
  }

  void put_direction(uint32_t line, size_t branch, unsigned direction, bool is_reached,
                     uint64_t count) {
    totals_.directions++;
    if (count != 0) totals_.executed_directions++;
    if (is_reached) {
      put("BRDA:{},{},{},{}\n", line, branch, direction, count);
    } else {
      put("BRDA:{},{},{},-\n", line, branch, direction);
    }
  }

  void put_lines(const SourceCoverage::Source& source) {
    for (const auto& [line, count] : source.lines) {
      put("DA:{},{}\n", line, count);
      totals_.lines++;
      if (count != 0) totals_.executed_lines++;
    }
    put("LF:{}\nLH:{}\n", totals_.lines, totals_.executed_lines);
  }

  TextOutput& output_;
  std::string text_;
  LcovTotals totals_;
};

}  // namespace

LcovTotals write_lcov(const SourceCoverage& coverage, TextOutput& output) {
  LcovTotals all;
  for (const auto& [path, source] : coverage.sources) {
    const LcovTotals of_source = SourceRecord(path, source, output).totals();
    all.lines += of_source.lines;
    all.executed_lines += of_source.executed_lines;
    all.functions += of_source.functions;
    all.executed_functions += of_source.executed_functions;
    all.directions += of_source.directions;
    all.executed_directions += of_source.executed_directions;
  }
  return all;
}

}  // namespace htmtrace

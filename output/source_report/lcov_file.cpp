// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/source_report/lcov_file.h"

#include <string>

#include "output/source_report/formatted_output.h"

namespace htmtrace {
namespace {

// The numbers of one source, which is also a total.
class SourceRecord {
 public:
  SourceRecord(const std::string& path, const SourceCoverage::Source& source,
               FormattedOutput& output)
      : output_(output) {
    output_.put("TN:\nSF:{}\n", path);
    put_functions(source);
    put_branches(source);
    put_lines(source);
    output_.put("end_of_record\n");
  }

  const LcovTotals& totals() const { return totals_; }

 private:
  void put_functions(const SourceCoverage::Source& source) {
    for (const auto& [name, function] : source.functions)
      output_.put("FN:{},{}\n", function.line, name);
    for (const auto& [name, function] : source.functions) {
      output_.put("FNDA:{},{}\n", function.count, name);
      totals_.functions++;
      if (function.count != 0) totals_.executed_functions++;
    }
    output_.put("FNF:{}\nFNH:{}\n", totals_.functions, totals_.executed_functions);
  }

  void put_branches(const SourceCoverage::Source& source) {
    for (const auto& [line, branches] : source.branches) {
      for (size_t i = 0; i < branches.size(); i++) {
        const SourceCoverage::Branch& branch = branches[i];
        put_direction(line, i, 0, branch.is_reached, branch.taken);
        put_direction(line, i, 1, branch.is_reached, branch.not_taken);
      }
    }
    output_.put("BRF:{}\nBRH:{}\n", totals_.directions, totals_.executed_directions);
  }

  void put_direction(uint32_t line, size_t branch, unsigned direction, bool is_reached,
                     uint64_t count) {
    totals_.directions++;
    if (count != 0) totals_.executed_directions++;
    if (is_reached) {
      output_.put("BRDA:{},{},{},{}\n", line, branch, direction, count);
    } else {
      output_.put("BRDA:{},{},{},-\n", line, branch, direction);
    }
  }

  void put_lines(const SourceCoverage::Source& source) {
    for (const auto& [line, count] : source.lines) {
      output_.put("DA:{},{}\n", line, count);
      totals_.lines++;
      if (count != 0) totals_.executed_lines++;
    }
    output_.put("LF:{}\nLH:{}\n", totals_.lines, totals_.executed_lines);
  }

  FormattedOutput& output_;
  LcovTotals totals_;
};

}  // namespace

LcovTotals write_lcov(const SourceCoverage& coverage, TextOutput& output) {
  LcovTotals all;
  FormattedOutput records(output);
  for (const auto& [path, source] : coverage.sources) {
    const LcovTotals of_source = SourceRecord(path, source, records).totals();
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

// SPDX-License-Identifier: GPL-2.0-or-later
// Decodes for tests and returns all events as lines in order. Formats the lines with fmt, and thus
// checks the tool's own printer independently.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/core_trace/decoder.h"
#include "output/print/text_printer.h"

namespace htmtrace {

class LineSink {
 public:
  void instruction(const Instruction& i) {
    std::string line = "ea=" + hex(i.has_ea, i.ea.value) + " op=";
    if (i.has_prefix) line += fmt::format("{:08x}", i.prefix);
    line += i.has_opcode ? fmt::format("{:08x}", i.opcode) : "--------";
    line += " ra=" + hex(i.has_ra, i.ra.value) + " la=" + hex(i.has_la, i.la.value);
    for (unsigned k = 0; k < i.data_count; k++) {
      const DataAccess& data = i.data.at(k);
      line += " dea=" + hex(true, data.ea.value) + " dra=" + hex(data.has_ra, data.ra.value) +
              " dla=" + hex(data.has_la, data.la.value);
    }
    instructions.push_back(line);
    all.push_back(line);
  }
  void stamp(const Stamp& stamp) {
    all.push_back(fmt::format("{} {}", stamp.offset, stamp_line(stamp)));
  }
  void defect(const Defect& defect) {
    all.push_back(fmt::format("defect {} {} {}", defect.offset, defect.size_bytes,
                              defect_reason_name(defect.reason)));
  }

  std::vector<std::string> instructions;
  std::vector<std::string> all;

 private:
  static std::string hex(bool known, uint64_t value) {
    return known ? fmt::format("{:016x}", value) : std::string(16, '-');
  }
};

struct Decoded {
  LineSink lines;
  CoreStatistics statistics;
};

// `pieces` gives the sizes of the pieces in which the trace is fed, repeatedly. Empty: the whole
// trace at once.
inline Decoded decode_lines(std::span<const std::byte> trace, const TranslationMap& map,
                            const std::vector<size_t>& pieces = {}) {
  Decoded decoded;
  CoreDecoder decoder(map, decoded.lines);
  size_t turn = 0;
  while (!trace.empty()) {
    const size_t wanted = pieces.empty() ? trace.size() : pieces[turn++ % pieces.size()];
    const size_t size = std::min(wanted, trace.size());
    decoder.feed(trace.first(size));
    trace = trace.subspan(size);
  }
  decoder.finish();
  decoded.statistics = decoder.statistics();
  return decoded;
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
// make_perf_data first|later OUTPUT CONFIG TRACE MAP [CONFIG TRACE MAP]...: the perf.data file that
// perf records of these traces, as the first driver or the later ones deliver them. CONFIG is that
// of the event: 0x400002 is a trace of core 4 of chip 0 and node 0.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "tests/generator/perf_data_file.h"

using htmtrace::generator::PerfDataFile;

namespace {

std::vector<std::byte> content(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  return {bytes, bytes + text.size()};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6 || argc % 3 != 0) {
    std::fputs("usage: make_perf_data first|later OUTPUT CONFIG TRACE MAP [CONFIG TRACE MAP]...\n",
               stderr);
    return 2;
  }
  const bool first = std::strcmp(argv[1], "first") == 0;
  std::vector<PerfDataFile::Event> events;
  for (int i = 3; i + 2 < argc; i += 3) {
    events.push_back({.config = std::strtoull(argv[i], nullptr, 0),
                      .cpu = static_cast<uint32_t>(8 * events.size() + 8)});
  }
  events.push_back({.config = 9, .pmu = 1, .name = "dummy:u"});  // as perf adds it
  PerfDataFile file(events, {.pairs = !first});
  for (size_t event = 0; event + 1 < events.size(); event++) {
    const std::vector<std::byte> trace = content(argv[3 * event + 4]);
    const std::vector<std::byte> map = content(argv[3 * event + 5]);
    if (first) {
      file.deliver_first(event, trace, map, 1 << 20);
    } else {
      file.deliver(event, trace, map, 192 << 10);
    }
  }
  const std::vector<std::byte> bytes = file.finish();
  std::ofstream output(argv[2], std::ios::binary);
  output.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  output.close();
  return output ? 0 : 1;
}

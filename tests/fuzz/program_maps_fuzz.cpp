// SPDX-License-Identifier: GPL-2.0-or-later
// Reads any bytes as htm.maps. A section that is written from the result must parse to the same
// result.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "output/symbols/program_maps.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace htmtrace;
  const ProgramMaps maps = parse_program_maps({reinterpret_cast<const char*>(data), size});
  size_t mappings = 0;
  for (const ProgramMaps::File& file : maps.files) mappings += file.mappings.size();
  if (mappings > kMostCodeMappings) std::abort();
  const std::string text = to_text(maps);
  const ProgramMaps again = parse_program_maps(text);
  if (again.malformed != 0 || to_text(again) != text) std::abort();
  return 0;
}

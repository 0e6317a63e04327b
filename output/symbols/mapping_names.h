// SPDX-License-Identifier: GPL-2.0-or-later
// Names the mapping of an effective address without a symbol: "[stack]", a file, a region of the
// kernel. Addresses of mappings differ from run to run; their names do not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace htmtrace {

class MappingNames {
 public:
  // Adds the maps of processes that the recorder saved (htm.maps). Accepts any bytes, and skips
  // malformed lines. Throws Error when the names would take too much memory.
  void add_file(std::string_view text);

  // Returns "[stack]", "libc.so.6", "[kernel: linear map]"; "[several mappings]" where the
  // processes differ; "[no mapping]" where no process has a mapping. Empty for a user address
  // without any maps, or outside executable mappings if the maps list no others.
  std::string name(uint64_t address) const;

 private:
  struct Mapping {
    uint64_t begin = 0;
    uint64_t end = 0;
    uint64_t reach = 0;  // the highest end of all mappings up to this one
    std::string name;
  };
  std::vector<Mapping> mappings_;  // sorted by begin
  bool knows_all_ = false;         // some maps list all mappings of processes
};

}  // namespace htmtrace

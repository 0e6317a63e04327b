// SPDX-License-Identifier: GPL-2.0-or-later
// What an effective address without a symbol is part of: "[stack]", a file, a region of the kernel.
// Such places move from run to run; their kinds do not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace htmtrace {

class MappingNames {
 public:
  // Maps of processes as record --symbols leaves them (htm.maps). Any bytes will do; lines that
  // make no sense are left out.
  void add_file(std::string_view text);

  // "[stack]", "libc.so.6", "[kernel: linear map]"; "[several mappings]" where the processes
  // differ,
  // "[no mapping]" where none has one. Empty for a user address when no maps are known.
  std::string name(uint64_t address) const;

 private:
  struct Mapping {
    uint64_t begin = 0;
    uint64_t end = 0;
    uint64_t reach = 0;  // the highest end up to here
    std::string name;
  };
  std::vector<Mapping> mappings_;  // by begin
};

}  // namespace htmtrace

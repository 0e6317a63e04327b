// SPDX-License-Identifier: GPL-2.0-or-later
// Any bytes as the pages of a workload (htm.pages), and the names and owners of some addresses.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "output/symbols/page_names.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  htmtrace::SymbolTable known;
  known.add({0x3000, 0x100, "array"});
  known.finish();
  htmtrace::PageNames names(known);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // Twice: several files may be added.
  const size_t malformed = names.add_file(text);
  if (names.add_file(text) != malformed && malformed == 0) std::abort();
  for (const uint64_t address : {uint64_t{0}, uint64_t{0x11080}, ~uint64_t{0}}) {
    names.name(htmtrace::LogicalAddr{address});
  }
  const htmtrace::PageOwners owners = names.take_owners();
  for (const uint64_t address : {uint64_t{1} << 32, uint64_t{0x7ff000000000}}) {
    owners.user({address}, htmtrace::LogicalAddr{0x11080});
  }
  return 0;
}

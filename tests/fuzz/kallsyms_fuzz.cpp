// SPDX-License-Identifier: GPL-2.0-or-later
// Reads any bytes as a copy of /proc/kallsyms. A found symbol must contain the requested address.
#include <cstdint>
#include <cstdlib>

#include "output/symbols/kallsyms.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  htmtrace::SymbolTable table;
  const htmtrace::KallsymsReport report =
      htmtrace::add_kallsyms({reinterpret_cast<const char*>(data), size}, table);
  if (report.symbols != table.size()) std::abort();
  table.finish();
  for (const uint64_t address : {uint64_t{1}, uint64_t{0xc000000000010000}, ~uint64_t{0}}) {
    const auto* symbol = table.find({address});
    if (symbol != nullptr && address - symbol->address >= symbol->size_bytes) std::abort();
  }
  return 0;
}

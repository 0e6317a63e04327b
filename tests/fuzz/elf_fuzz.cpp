// SPDX-License-Identifier: GPL-2.0-or-later
// Any bytes as a program file. Each symbol is found at the address that it names.
#include <cstdint>
#include <cstdlib>

#include "core/base/error.h"
#include "output/symbols/elf_symbols.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string path = htmtrace::path_of(data, size);
  for (const std::optional<uint64_t> loaded_at : {std::optional<uint64_t>(), {0x10000}}) {
    htmtrace::SymbolTable table;
    size_t added = 0;
    try {
      added = htmtrace::add_elf_symbols(path, loaded_at, table);
    } catch (const htmtrace::Error&) {
      added = table.size();  // what the file holds before the error
    }
    if (table.size() != added) std::abort();
    table.finish();
    for (const uint64_t address :
         {uint64_t{0}, uint64_t{0x10000}, uint64_t{0x10000100}, 0xc000000000000000, ~uint64_t{0}}) {
      const htmtrace::SymbolTable::Span span = table.span_of({address});
      if (span.symbol != nullptr && !span.holds(address)) std::abort();
    }
    for (const htmtrace::SymbolTable::Program& program : table.programs()) {
      program.has_word(0x10000, 0x60000000);
      program.has_offset(0x10000, 0);
    }
  }
  return 0;
}

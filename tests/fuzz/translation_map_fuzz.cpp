// SPDX-License-Identifier: GPL-2.0-or-later
// Any bytes as a memory map. What it promises about its ranges must hold.
#include <cstdint>
#include <cstdlib>

#include "core/memory_map/translation.h"

namespace {

void check(const htmtrace::MemoryOwners& owners) {
  uint64_t behind = 0;
  for (const htmtrace::MemoryOwners::Range& range : owners.ranges()) {
    if (range.real < behind || range.size_bytes == 0) std::abort();
    behind = range.real + range.size_bytes;
    const auto* found = owners.find(htmtrace::RealAddr{behind - 1});
    if (found == nullptr || found->real != range.real) std::abort();
  }
}

void check(const htmtrace::TranslationMap& map) {
  check(map.owners());
  uint64_t behind = 0;
  for (const htmtrace::TranslationMap::Range& range : map.ranges()) {
    if (range.real < behind || range.size_bytes == 0) std::abort();
    behind = range.real + range.size_bytes;
    const auto* found = map.find(htmtrace::RealAddr{behind - 1});
    if (found == nullptr || found->real != range.real) std::abort();
    htmtrace::TranslationMap::Cursor cursor(map);
    const auto logical = cursor.translate(htmtrace::RealAddr{range.real});
    if (!logical || logical->value != range.logical) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  check(htmtrace::TranslationMap(file, std::nullopt));
  check(htmtrace::TranslationMap(file, 0));
  return 0;
}

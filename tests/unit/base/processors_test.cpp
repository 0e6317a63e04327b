// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/memory_map/processors.h"

#include <doctest/doctest.h>

#include <array>
#include <vector>

using namespace htmtrace;

namespace {

using Entry = std::array<std::byte, 16>;

Entry entry(unsigned node, unsigned chip, unsigned core) {
  Entry bytes{};
  size_t at = 0;
  for (const unsigned index : {node, chip, core}) {
    bytes[at++] = static_cast<std::byte>(index >> 8);
    bytes[at++] = static_cast<std::byte>(index);
  }
  bytes[15] = std::byte{0x1c};
  return bytes;
}

std::optional<std::vector<TraceTarget>> infer(const std::vector<Entry>& entries) {
  const std::vector<std::span<const std::byte>> spans(entries.begin(), entries.end());
  return infer_processors(spans);
}

}  // namespace

TEST_CASE("processors are inferred from node, chip and core at the start of an entry") {
  const auto cores = infer({entry(0, 0, 0), entry(0, 1, 4), entry(3, 2, 255)});
  REQUIRE(cores);
  CHECK(*cores == std::vector<TraceTarget>{{0, 0, 0}, {0, 1, 4}, {3, 2, 255}});
}

TEST_CASE("no processors are inferred from entries that cannot have this layout") {
  CHECK_FALSE(infer({}));
  CHECK_FALSE(infer({entry(0, 0, 0), entry(0, 0, 0)}));
  CHECK_FALSE(infer({entry(256, 0, 0)}));
  CHECK_FALSE(infer({entry(0, 0x1234, 0)}));
  CHECK_FALSE(infer({entry(0, 0, 256)}));
  const std::array<std::byte, 4> cut{};
  const std::vector<std::span<const std::byte>> spans{cut};
  CHECK_FALSE(infer_processors(spans));
}

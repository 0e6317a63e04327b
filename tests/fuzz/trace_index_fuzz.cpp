// SPDX-License-Identifier: GPL-2.0-or-later
// Reads any bytes as an index of a trace, both unchanged and with a valid header and checksum,
// because otherwise most bytes would be rejected early. A valid index must be equal after unpacking
// and packing. Each restart position must be in the index, and its pages must be restorable.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <vector>

#include "core/base/crc32c.h"
#include "core/base/packed_numbers.h"
#include "core/base/target.h"
#include "core/selection/index.h"

namespace {

using namespace htmtrace;

// htmtrace-index(5), FORMAT: magic, version, kind.
constexpr uint64_t kMagic = 0x5845444e494d5448;
constexpr uint64_t kVersion = 3;

std::vector<std::byte> made_an_index(std::span<const std::byte> bytes, HtmType kind) {
  std::vector<std::byte> index;
  for (const uint64_t word : {kMagic, kVersion, static_cast<uint64_t>(kind)})
    pack_word(word, index);
  const auto rest = bytes.first(bytes.size() / sizeof(uint64_t) * sizeof(uint64_t));
  index.insert(index.end(), rest.begin(), rest.end());
  pack_word(crc32c(index), index);
  return index;
}

// `number` is what anybody might ask for.
std::vector<Selection> selections(uint64_t number) {
  std::vector<Selection> all(5);
  all[0].ticks = {number, Selection::kAny};
  all[1].ticks = {number / 2, number};
  all[2].numbers = {number, Selection::kAny};
  all[3].from_mark = static_cast<unsigned>(number & 0xfff);
  all[4].last = number;
  return all;
}

template <class Restart>
void check_own(const std::vector<Restart>& restarts, const Restart* one) {
  if (one == nullptr) return;
  if (one < restarts.data() || one >= restarts.data() + restarts.size()) std::abort();
}

// Pages learned after a restart stay correct, whatever was restored.
void check_pages(const CoreIndex& index) {
  if (index.restarts.empty()) return;
  Power8Translation translation;
  translation.restore(pages_before(index, index.restarts.back()));
  translation.learn(EffectiveAddr{0x10000000}, 0x20000000, 16);
  if (!translation.translate(EffectiveAddr{0x10000004})) std::abort();
}

void look_at_core(std::span<const std::byte> bytes, uint64_t number) {
  const std::optional<CoreIndex> index = unpack_core_index(bytes);
  if (!index) return;
  if (unpack_core_index(pack(*index)) != index) std::abort();
  for (const Selection& selection : selections(number)) {
    for (const uint64_t limit : {number, Selection::kAny}) {
      const CoreRestart* const from = restart_for(*index, selection, limit);
      check_own(index->restarts, from);
      if (from != nullptr && from->place.instructions > limit) std::abort();
    }
  }
  check_pages(*index);
}

void look_at_nest(std::span<const std::byte> bytes, uint64_t number) {
  const std::optional<NestIndex> index = unpack_nest_index(bytes);
  if (!index) return;
  if (unpack_nest_index(pack(*index)) != index) std::abort();
  for (const Selection& selection : selections(number)) {
    const NestStretch stretch = stretch_for(*index, selection);
    for (size_t i = 0; i < index->restarts.size(); i++) {
      check_own(index->restarts.at(i), stretch.from.at(i));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const uint64_t number =
      size < sizeof(uint64_t) ? size : NumberReader(bytes.last(sizeof(uint64_t))).word();
  look_at_core(bytes, number);
  look_at_nest(bytes, number);
  look_at_core(made_an_index(bytes, HtmType::kCore), number);
  look_at_nest(made_an_index(bytes, HtmType::kNest), number);
  return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/damage/damages.h"

#include <algorithm>

namespace htmtrace {

using generator::Random;

void put_random_word(Bytes& trace, size_t at, Random& random) {
  const Bytes word = generator::bytes_of({random.next()});
  std::copy_n(word.begin(), std::min(word.size(), trace.size() - at),
              trace.begin() + static_cast<ptrdiff_t>(at));
}

namespace {

void flip_bits(Bytes& trace, Random& random) {
  for (uint64_t i = random.below(64) + 1; i != 0; i--) {
    trace[random.below(trace.size())] ^= static_cast<std::byte>(1U << random.below(8));
  }
}

void truncate(Bytes& trace, Random& random) {
  trace.resize(random.below(trace.size()));
}

void replace_words(Bytes& trace, Random& random) {
  for (uint64_t i = random.below(100) + 1; i != 0; i--) {
    put_random_word(trace, random.below(trace.size() / 8) * 8, random);
  }
}

// Words or bytes are missing, repeated, or zero.
void cut_out(Bytes& trace, Random& random) {
  for (uint64_t i = random.below(20) + 1; i != 0 && trace.size() > 512; i--) {
    const size_t size = random.chance(900) ? random.below(50) * 8 : random.below(400);
    const auto at = trace.begin() + static_cast<ptrdiff_t>(random.below(trace.size() - size));
    trace.erase(at, at + static_cast<ptrdiff_t>(size));
  }
}

void repeat(Bytes& trace, Random& random) {
  const size_t from = random.below(trace.size() - 512) / 8 * 8;
  const Bytes part(trace.begin() + static_cast<ptrdiff_t>(from),
                   trace.begin() + static_cast<ptrdiff_t>(from + random.below(64) * 8));
  trace.insert(trace.begin() + static_cast<ptrdiff_t>(random.below(trace.size()) / 8 * 8),
               part.begin(), part.end());
}

void zero_page(Bytes& trace, Random& random) {
  const size_t size = std::min<size_t>(4096, trace.size());
  const size_t from = random.below(trace.size() - size + 1);
  std::fill_n(trace.begin() + static_cast<ptrdiff_t>(from), size, std::byte{0});
}

void randomise(Bytes& trace, Random& random) {
  for (std::byte& byte : trace) byte = static_cast<std::byte>(random.next());
}

constexpr Damage kToAnyTrace[] = {flip_bits, truncate,  replace_words, cut_out,
                                  repeat,    zero_page, randomise};

}  // namespace

void damage(Bytes& trace, std::span<const Damage> special, size_t kind, Random& random) {
  const size_t kinds = std::size(kToAnyTrace) + special.size();
  const auto one = [&](size_t number) {
    number < special.size() ? special[number](trace, random)
                            : kToAnyTrace[number - special.size()](trace, random);
  };
  one(kind % kinds);
  if (random.chance(300) && trace.size() > 1024) one(random.below(kinds - 1));
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/analysis/marker.h"

#include <algorithm>
#include <set>

namespace htmtrace {
namespace {

// Power ISA 3.1, book I, 3.3.9: addi has the primary opcode 14, and addis 15. Register number 0 as
// the source stands for the value 0.
constexpr uint32_t kLi = uint32_t{14} << 26, kLis = uint32_t{15} << 26;
constexpr unsigned kTargetShift = 21;
constexpr uint32_t kFirstRegister = 4, kRegisters = 8;

uint32_t random_word(uint32_t bits) {
  const uint32_t target = kFirstRegister + (bits >> 16) % kRegisters;
  const bool high = (bits >> 31) != 0;
  return (high ? kLis : kLi) | target << kTargetShift | (bits & 0xffff);
}

}  // namespace

std::vector<Marker> make_markers(size_t count, const std::function<uint32_t()>& random) {
  std::vector<Marker> markers(count);
  std::set<uint32_t> used;
  for (Marker& marker : markers) {
    for (uint32_t& word : marker.words) {
      do {
        word = random_word(random());
      } while (!used.insert(word).second);
    }
  }
  return markers;
}

std::vector<uint32_t> marker_function(const Marker& marker) {
  constexpr uint32_t kMoveR3ToCtr = 0x7c6903a6;         // mtctr r3
  constexpr uint32_t kDecrementAndBranch = 0x42000000;  // bdnz
  constexpr uint32_t kDisplacementBits = 0xfffc;
  constexpr uint32_t kReturn = 0x4e800020;  // blr
  std::vector<uint32_t> code{kMoveR3ToCtr};
  code.insert(code.end(), marker.words.begin(), marker.words.end());
  const auto bytes = static_cast<uint32_t>(Marker::kWords * sizeof(uint32_t));
  code.push_back(kDecrementAndBranch | (-bytes & kDisplacementBits));
  code.push_back(kReturn);
  return code;
}

MarkerSearch::MarkerSearch(std::span<const Marker> markers)
    : markers_(markers), passes_(markers.size()) {
  for (size_t i = 0; i < markers.size(); i++) first_words_.emplace_back(markers[i].words[0], i);
  std::ranges::sort(first_words_);
}

void MarkerSearch::begin(uint32_t word) {
  const auto found =
      std::ranges::lower_bound(first_words_, word, {}, &std::pair<uint32_t, size_t>::first);
  if (found == first_words_.end() || found->first != word) return;
  current_ = found->second;
  next_ = 1;
}

void MarkerSearch::end_pass() {
  passes_[current_]++;
  next_ = 0;
}

}  // namespace htmtrace

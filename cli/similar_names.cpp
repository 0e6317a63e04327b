// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/similar_names.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace htmtrace {
namespace {

constexpr size_t kFar = std::numeric_limits<size_t>::max();

// The least number of characters to insert, remove or replace to turn `a` into `b`.
size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); i++) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); j++) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

}  // namespace

// Names that contain the text follow all names that differ in a few characters.
size_t SimilarNames::distance_to(std::string_view name) const {
  constexpr size_t kLongest = 64;
  constexpr size_t kLeastPart = 3;
  constexpr size_t kShort = 3;
  const size_t most = text_.size() <= kShort ? 1 : std::max<size_t>(2, text_.size() / 3);
  const size_t difference =
      name.size() > text_.size() ? name.size() - text_.size() : text_.size() - name.size();
  if (difference <= most && text_.size() <= kLongest) {
    const size_t edits = edits_between(text_, name);
    if (edits <= most) return edits;
  }
  const std::string_view beginning = name.substr(0, 4 * kLongest);
  const bool contained =
      text_.size() >= kLeastPart && beginning.find(text_) != std::string_view::npos;
  return contained ? most + beginning.size() : kFar;
}

void SimilarNames::offer(std::string_view name) {
  const size_t distance = distance_to(name);
  if (distance == kFar || (best_.size() == kMost && distance > best_.back().distance)) return;
  Candidate candidate{.distance = distance, .name = std::string(name)};
  const auto place = std::ranges::lower_bound(best_, candidate);
  if (place != best_.end() && *place == candidate) return;
  best_.insert(place, std::move(candidate));
  if (best_.size() > kMost) best_.pop_back();
}

std::string SimilarNames::question() const {
  if (best_.empty()) return {};
  std::string text = "did you mean ";
  for (size_t i = 0; i < best_.size(); i++) {
    if (i != 0) text += i + 1 == best_.size() ? " or " : ", ";
    text += best_[i].name;
  }
  return text + "?";
}

}  // namespace htmtrace

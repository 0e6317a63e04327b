// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the name that the user may have meant.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace htmtrace {

class SimilarNames {
 public:
  explicit SimilarNames(std::string_view text) : text_(text) {}

  // Considers a name. Compares only the beginning of a long name.
  void offer(std::string_view name);

  // "did you mean main, mark or mask?"; empty if no name is similar.
  std::string question() const;

 private:
  static constexpr size_t kMost = 4;
  struct Candidate {
    size_t distance;
    std::string name;
    auto operator<=>(const Candidate&) const = default;
  };
  size_t distance_to(std::string_view name) const;

  std::string text_;
  std::vector<Candidate> best_;  // sorted
};

}  // namespace htmtrace

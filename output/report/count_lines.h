// SPDX-License-Identifier: GPL-2.0-or-later
// Prints counts with their names, one line each.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace htmtrace {

class CountLines {
 public:
  void always(std::string_view name, uint64_t count) {
    fmt::format_to(std::back_inserter(text_), "  {:<28} {:>16}\n", name, count);
  }
  void if_any(std::string_view name, uint64_t count) {
    if (count != 0) always(name, count);
  }
  void remark(std::string_view text) {
    text_.pop_back();
    text_ += "  ";
    text_ += text;
    text_ += '\n';
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace htmtrace

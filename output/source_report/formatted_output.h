// SPDX-License-Identifier: GPL-2.0-or-later
// Formatted text for a TextOutput.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <utility>

#include "output/io/text_output.h"

namespace htmtrace {

class FormattedOutput {
 public:
  // `output` must outlive this object.
  explicit FormattedOutput(TextOutput& output) : output_(output) {}

  // Throws Error, as TextOutput does.
  template <class... Values>
  void put(fmt::format_string<Values...> format, Values&&... values) {
    text_.clear();
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    output_.put(text_);
  }

 private:
  TextOutput& output_;
  std::string text_;
};

}  // namespace htmtrace

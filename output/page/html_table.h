// SPDX-License-Identifier: GPL-2.0-or-later
// A table of an HTML page. The page's script sorts and searches it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace htmtrace {

class HtmlTable {
 public:
  enum class Kind : uint8_t {
    kNumber,  // sorted as a number; "12.34%" is one, too
    kCode,    // an address or a name
    kText,
  };
  struct Column {
    const char* title;
    Kind kind;
  };

  HtmlTable(const std::string& caption, std::initializer_list<Column> columns);

  // Adds a line with a text for each column. Escapes the texts, and shortens long texts. `indent`
  // moves the last text to the right.
  void line(std::initializer_list<std::string> texts, size_t indent = 0);

  // Returns the table.
  std::string take();
  // Returns the table. If it has fewer than `all` lines, the page states this.
  std::string take_first_of(size_t all);

 private:
  std::vector<Kind> kinds_;
  std::string text_;
  size_t lines_ = 0;
};

// A share of `whole`, such as "12.34%".
std::string percent_text(uint64_t part, uint64_t whole);

}  // namespace htmtrace

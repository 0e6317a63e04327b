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

  size_t lines() const { return lines_; }
  // Returns the table. `remark` follows it, unless it is empty.
  std::string take(const std::string& remark = {});

 private:
  std::vector<Kind> kinds_;
  std::string text_;
  size_t lines_ = 0;
};

}  // namespace htmtrace

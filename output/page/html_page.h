// SPDX-License-Identifier: GPL-2.0-or-later
// The frame of an HTML page: head, search, contents and sections. The page needs no network and no
// other file.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace htmtrace {

// The facts with which each page begins.
struct PageHead {
  std::string title;                       // names the traces
  std::string program;                     // "htmtrace 1.0"
  std::vector<std::string> warnings = {};  // what the recording lacks
  bool incomplete = false;                 // data was lost, or could not be read or decoded
};

class HtmlPage {
 public:
  explicit HtmlPage(PageHead head) : head_(std::move(head)) {}

  // Lines about the basis of the report, with line ends.
  void basis(const std::string& lines) { basis_ += lines; }

  // Adds a section. `html` is finished HTML; `title` is escaped.
  void section(const std::string& title, const std::string& html);

  std::string take();

 private:
  PageHead head_;
  std::string basis_;
  std::string contents_;
  std::string sections_;
  unsigned count_ = 0;
};

// Text of several lines in fixed width, such as a table of a text report.
std::string fixed_text(const std::string& lines);

// A picture that is wider than a narrow window scrolls in its frame. `label` is escaped.
std::string scrolled(const std::string& label, const std::string& picture);

// The style sheet and the script of each page. The browser runs only a script with this hash.
std::string page_style();
const char* page_script();
extern const char* const kScriptHash;

}  // namespace htmtrace

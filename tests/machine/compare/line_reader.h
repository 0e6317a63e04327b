// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the lines of a file of any size, one at a time.
#pragma once
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <vector>

namespace htmtrace::compare {

class LineReader {
 public:
  // "-" is standard input. Throws std::runtime_error if the file cannot be opened.
  explicit LineReader(const char* path);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // Returns false at the end. The view excludes the line end, and is valid until the next call.
  bool next(std::string_view* line);
  uint64_t number() const { return number_; }

 private:
  bool fill();

  const char* path_;
  std::FILE* file_;
  std::vector<char> buffer_;
  size_t begin_ = 0, end_ = 0;
  uint64_t number_ = 0;
};

}  // namespace htmtrace::compare

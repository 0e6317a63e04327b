// SPDX-License-Identifier: GPL-2.0-or-later
// The text of source files. For one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace htmtrace {

class SourceText {
 public:
  // line() searches each folder for /build/x/src/a.c as build/x/src/a.c, x/src/a.c, src/a.c and
  // a.c, the longest path first. Then line() tries the file's own path.
  explicit SourceText(std::vector<std::filesystem::path> folders) : folders_(std::move(folders)) {}

  // The text of a line, counted from 1, without its end and without control characters. Empty if
  // the file cannot be read, or is shorter. Valid as long as this object.
  std::string_view line(const std::string& file, uint32_t number);

  // The files that line() could not read, in the order of their names.
  std::vector<std::string> missing() const;

 private:
  struct File {
    bool found = false;
    std::string text;
    std::vector<size_t> begins;  // of each line in `text`
  };
  // No compiler reads larger files.
  static constexpr size_t kMostBytes = 64 << 20;

  const File& opened(const std::string& path);
  static bool read(const std::filesystem::path& path, File& file);

  std::vector<std::filesystem::path> folders_;
  std::map<std::string, File> files_;
};

}  // namespace htmtrace

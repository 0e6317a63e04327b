// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/symbols/proc_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "output/io/input_file.h"

namespace htmtrace {

std::string proc_text(const std::filesystem::path& path) {
  constexpr uint64_t kMostBytes = 256 << 20;  // limit for the maps of one process
  try {
    const std::vector<std::byte> bytes = InputFile::open(path).read_all(kMostBytes);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  } catch (const Error&) {
    return {};
  }
}

// Field 2, the command, is in parentheses and may hold any characters.
std::string stat_field(const std::string& stat, int number) {
  const size_t end = stat.rfind(')');
  if (end == std::string::npos) return "0";
  std::string_view rest = std::string_view(stat).substr(end + 1);
  for (int field = 2; field < number; field++) {
    const size_t space = rest.find(' ');
    if (space == std::string_view::npos) return "0";
    rest.remove_prefix(space + 1);
  }
  return std::string(rest.substr(0, rest.find(' ')));
}

std::string one_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  std::ranges::replace(text, '\n', '?');
  return text;
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/report/colors.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>

namespace htmtrace {
namespace {

// ECMA-48, "Select Graphic Rendition".
constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kRed = "\x1b[31m";
constexpr std::string_view kGreen = "\x1b[32m";
constexpr std::string_view kPlain = "\x1b[m";

bool is_of_number(char letter) {
  return (letter >= '0' && letter <= '9') || letter == '.';
}

std::string_view color_of_share(std::string_view number) {
  constexpr double kHot = 5, kWarm = 0.5;
  const double share = std::atof(std::string(number).c_str());
  return share >= kHot ? kRed : share >= kWarm ? kGreen : "";
}

// Lines with a share begin with a count.
std::string with_share(std::string_view line) {
  const size_t end = line.find('%');
  const size_t count = line.find_first_not_of(' ');
  if (end == std::string_view::npos || count >= end || !is_of_number(line[count])) {
    return std::string(line);
  }
  size_t begin = end;
  while (begin > 0 && is_of_number(line[begin - 1])) begin--;
  const std::string_view color = color_of_share(line.substr(begin, end - begin));
  if (begin == end || color.empty()) return std::string(line);
  return std::string(line.substr(0, begin))
      .append(color)
      .append(line.substr(begin, end + 1 - begin))
      .append(kPlain)
      .append(line.substr(end + 1));
}

}  // namespace

std::string colored(std::string_view text) {
  std::string result;
  bool after_empty = false;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (after_empty && !line.empty()) {
      result.append(kBold).append(line).append(kPlain);
    } else {
      result += with_share(line);
    }
    if (end < text.size()) result += '\n';
    after_empty = line.empty();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

}  // namespace htmtrace

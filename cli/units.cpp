// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/units.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace htmtrace {
namespace {

constexpr double kLongestSeconds = 100.0 * 365 * 24 * 3600;

struct TimeUnit {
  std::string_view name;
  double seconds;
};
constexpr std::array kTimeUnits = {
    TimeUnit{"", 1},  TimeUnit{"ns", 1e-9}, TimeUnit{"us", 1e-6},  TimeUnit{"ms", 1e-3},
    TimeUnit{"s", 1}, TimeUnit{"m", 60},    TimeUnit{"h", 60 * 60}};

}  // namespace

std::optional<uint64_t> parse_size(std::string_view text) {
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{}) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<size_t>(stop - text.data()));
  unsigned shift = 0;
  if (unit == "K" || unit == "k")
    shift = 10;
  else if (unit == "M" || unit == "m")
    shift = 20;
  else if (unit == "G" || unit == "g")
    shift = 30;
  else if (!unit.empty())
    return std::nullopt;
  if (value > UINT64_MAX >> shift) return std::nullopt;
  return value << shift;
}

std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  const size_t digits = text.find_first_not_of("0123456789.");
  const std::string_view number = text.substr(0, digits);
  const std::string_view unit = digits == std::string_view::npos ? "" : text.substr(digits);
  double value = 0;
  const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), value,
                                             std::chars_format::fixed);
  if (error != std::errc{} || stop != number.data() + number.size()) return std::nullopt;
  for (const TimeUnit& known : kTimeUnits) {
    if (known.name != unit) continue;
    const double seconds = value * known.seconds;
    if (seconds < 1e-9 || seconds > kLongestSeconds) return std::nullopt;
    return std::chrono::nanoseconds(static_cast<int64_t>(seconds * 1e9));
  }
  return std::nullopt;
}

std::optional<uint64_t> parse_moment(std::string_view text) {
  constexpr uint64_t kSecond = 1'000'000'000;
  constexpr size_t kMostDigits = 9;
  if (text.ends_with('s')) text.remove_suffix(1);
  const size_t point = std::min(text.find('.'), text.size());
  uint64_t seconds = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + point, seconds);
  if (error != std::errc{} || stop != text.data() + point) return std::nullopt;
  if (seconds > UINT64_MAX / kSecond - 1) return std::nullopt;
  std::string_view digits = text.substr(point);
  if (!digits.empty()) digits.remove_prefix(1);
  if (digits.size() > kMostDigits || (point != text.size() && digits.empty())) return std::nullopt;
  uint64_t ns = 0;
  for (size_t i = 0; i < kMostDigits; i++) {
    const char digit = i < digits.size() ? digits[i] : '0';
    if (digit < '0' || digit > '9') return std::nullopt;
    ns = ns * 10 + static_cast<uint64_t>(digit - '0');
  }
  return seconds * kSecond + ns;
}

}  // namespace htmtrace

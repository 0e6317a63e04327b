// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/doctor/machine_files.h"

#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>

namespace htmtrace {

namespace fs = std::filesystem;

std::optional<std::string> text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  while (!text.empty() && (text.back() == '\n' || text.back() == '\0')) text.pop_back();
  return text;
}

std::optional<int64_t> number_in(const fs::path& path) {
  const auto text = text_of(path);
  int64_t value = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), value).ec != std::errc())
    return std::nullopt;
  return value;
}

std::string value_of(const fs::path& path, std::string_view key) {
  std::istringstream lines(text_of(path).value_or(""));
  lines.exceptions(std::ios::badbit);  // out of memory
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key)) continue;
    const size_t colon = line.find(':');
    const size_t start = line.find_first_not_of(" \t", colon + 1);
    if (colon != std::string::npos && start != std::string::npos) return line.substr(start);
  }
  return {};
}

std::optional<uint32_t> cell_in(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 4> bytes{};
  if (!file.read(bytes.data(), bytes.size())) return std::nullopt;
  uint32_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

}  // namespace htmtrace

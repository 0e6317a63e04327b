// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/source_lines/source_text.h"

#include <climits>
#include <system_error>

#include "core/base/error.h"
#include "core/base/plain_text.h"
#include "output/io/input_file.h"

namespace htmtrace {
namespace {

namespace fs = std::filesystem;

// A tab would count as one column.
std::string plain_line(std::string_view line) {
  std::string text;
  for (const char c : line) {
    if (c == '\t') {
      text.append(8 - text.size() % 8, ' ');
    } else if (c != '\r') {
      text += c;
    }
  }
  return has_controls(text) ? without_controls(text) : text;
}

}  // namespace

bool SourceText::read(const fs::path& path, File& file) {
  std::error_code failure;
  if (!fs::is_regular_file(path, failure)) return false;
  try {
    const std::vector<std::byte> bytes = InputFile::open(path.string()).read_all(kMostBytes);
    std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    while (!rest.empty()) {
      const size_t end = rest.find('\n');
      file.begins.push_back(file.text.size());
      file.text += plain_line(rest.substr(0, end));
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    file.begins.push_back(file.text.size());
    return true;
  } catch (const Error&) {
    file.text.clear();
    file.begins.clear();
    return false;
  }
}

const SourceText::File& SourceText::opened(const std::string& path) {
  const auto [place, added] = files_.try_emplace(path);
  File& file = place->second;
  // No file has a longer path, and the search takes time for each part of it.
  if (!added || path.size() >= PATH_MAX) return file;
  for (const fs::path& folder : folders_) {
    // The longest path first.
    for (fs::path rest = fs::path(path).relative_path(); !file.found && !rest.empty();) {
      file.found = read(folder / rest, file);
      rest = rest.lexically_relative(*rest.begin());
      if (rest == ".") break;
    }
    if (file.found) return file;
  }
  file.found = read(path, file);
  return file;
}

std::string_view SourceText::line(const std::string& file, uint32_t number) {
  const File& found = opened(file);
  if (number == 0 || number >= found.begins.size()) return {};
  return std::string_view(found.text)
      .substr(found.begins[number - 1], found.begins[number] - found.begins[number - 1]);
}

std::vector<std::string> SourceText::missing() const {
  std::vector<std::string> names;
  for (const auto& [path, file] : files_) {
    if (!file.found) names.push_back(path);
  }
  return names;
}

}  // namespace htmtrace

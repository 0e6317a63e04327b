// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/symbols/program_maps.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <utility>

#include "core/base/crc32c.h"
#include "core/base/error.h"
#include "output/io/input_file.h"

namespace htmtrace {
namespace {

constexpr std::string_view kSection = "# maps of the workload's processes";
constexpr std::string_view kOtherSection = "# maps of ";
constexpr std::string_view kFile = "# file ";

// Removes a number and the separator that follows it from the front of `text`.
template <class Number>
bool take(std::string_view& text, int base, char separator, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number, base);
  if (failure != std::errc{} || stop == end || *stop != separator) return false;
  text.remove_prefix(static_cast<size_t>(stop - text.data()) + 1);
  return true;
}

// Parses "SIZE CHECKSUM PATH".
bool parse_content(std::string_view line, std::string& path, FileContent& content) {
  if (!take(line, 10, ' ', content.size_bytes) || !take(line, 16, ' ', content.crc32c)) {
    return false;
  }
  path = line;
  return true;
}

// Parses "BEGIN-END PERMISSIONS OFFSET MAJOR:MINOR INODE PATH".
bool parse_mapping(std::string_view line, CodeMapping& mapping) {
  uint64_t end = 0;
  if (!take(line, 16, '-', mapping.address) || !take(line, 16, ' ', end)) return false;
  const size_t space = line.find(' ');
  if (space == std::string_view::npos || end <= mapping.address) return false;
  mapping.bytes = end - mapping.address;
  mapping.permissions = line.substr(0, space);
  line.remove_prefix(space + 1);
  if (!take(line, 16, ' ', mapping.offset) || !take(line, 16, ':', mapping.device_major) ||
      !take(line, 16, ' ', mapping.device_minor) || !take(line, 10, ' ', mapping.inode)) {
    return false;
  }
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  mapping.path = line;
  return line.starts_with('/');
}

ProgramMaps::File& file_of(const CodeMapping& mapping, ProgramMaps& maps) {
  if (maps.files.empty() || maps.files.back().path != mapping.path ||
      maps.files.back().inode != mapping.inode) {
    maps.files.push_back(
        {.path = mapping.path, .inode = mapping.inode, .content = {}, .mappings = {}});
  }
  return maps.files.back();
}

bool is_later(const timespec& time, const timespec& begun) {
  return std::pair(time.tv_sec, time.tv_nsec) >= std::pair(begun.tv_sec, begun.tv_nsec);
}

// Returns the size of the file if it is the mapped one and has not changed.
std::optional<uint64_t> unchanged_bytes(const ProgramMaps::File& file, const timespec& begun) {
  struct stat facts {};
  if (::stat(file.path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode) ||
      facts.st_ino != file.inode || is_later(facts.st_ctim, begun)) {
    return std::nullopt;
  }
  return static_cast<uint64_t>(facts.st_size);
}

// A line end in a path would begin another line. /proc/PID/maps writes it in the same way.
std::string path_text(const std::string& path) {
  std::string text;
  for (const char letter : path) letter == '\n' ? text += "\\012" : text += letter;
  return text;
}

}  // namespace

std::string maps_line(const CodeMapping& mapping) {
  return fmt::format("{:x}-{:x} {} {:08x} {:02x}:{:02x} {} {}\n", mapping.address,
                     mapping.address + mapping.bytes, mapping.permissions, mapping.offset,
                     mapping.device_major, mapping.device_minor, mapping.inode,
                     path_text(mapping.path));
}

std::optional<FileContent> content_of(const std::filesystem::path& path) {
  try {
    if (type_of_file(path) != std::filesystem::file_type::regular) return std::nullopt;
    InputFile file = InputFile::open(path);
    FileContent content;
    std::vector<std::byte> piece(InputFile::kPieceBytes);
    while (const size_t got = file.read(piece)) {
      content.size_bytes += got;
      if (content.size_bytes > kMostContentBytes) return std::nullopt;
      content.crc32c = crc32c(std::span(piece).first(got), content.crc32c);
    }
    return content;
  } catch (const Error&) {
    return std::nullopt;
  }
}

ProgramMaps read_program_files(const std::set<CodeMapping>& mappings, const timespec& begun) {
  ProgramMaps maps;
  for (const CodeMapping& mapping : mappings) file_of(mapping, maps).mappings.push_back(mapping);
  uint64_t left = kMostReadBytes;
  for (ProgramMaps::File& file : maps.files) {
    const auto bytes = unchanged_bytes(file, begun);
    if (!bytes || *bytes > left) continue;
    left -= *bytes;
    file.content = content_of(file.path);
    if (!unchanged_bytes(file, begun)) file.content.reset();
  }
  return maps;
}

std::string to_text(const ProgramMaps& maps) {
  std::string text = fmt::format("{}\n", kSection);
  for (const ProgramMaps::File& file : maps.files) {
    if (file.content) {
      text += fmt::format("{}{} {:08x} {}\n", kFile, file.content->size_bytes, file.content->crc32c,
                          path_text(file.path));
    }
    for (const CodeMapping& mapping : file.mappings) text += maps_line(mapping);
  }
  return text;
}

ProgramMaps parse_program_maps(std::string_view text) {
  ProgramMaps maps;
  bool inside = false;
  size_t left = kMostCodeMappings;
  std::string path;                    // of `content`
  std::optional<FileContent> content;  // of the file whose mappings follow
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.starts_with(kOtherSection)) {
      inside = line == kSection;
    } else if (!inside || line.empty()) {
      continue;
    } else if (line.starts_with(kFile)) {
      if (!parse_content(line.substr(kFile.size()), path, content.emplace())) {
        maps.malformed++;
        content.reset();
      }
    } else if (CodeMapping mapping; !parse_mapping(line, mapping)) {
      maps.malformed++;
    } else if (left != 0) {
      left--;
      ProgramMaps::File& file = file_of(mapping, maps);
      if (file.mappings.empty() && path == mapping.path) file.content = content;
      content.reset();
      file.mappings.push_back(std::move(mapping));
    }
  }
  return maps;
}

}  // namespace htmtrace

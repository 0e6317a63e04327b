// SPDX-License-Identifier: GPL-2.0-or-later
// The code that a recording's workload mapped: one section of htm.maps. The recorder writes the
// section. Readers learn from it which program files they need, and where the files were loaded.
// htmtrace-record(1), SYMBOLS, describes the text.
#pragma once

#include <time.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace htmtrace {

// An executable mapping of a file.
struct CodeMapping {
  std::string path;
  uint64_t inode = 0;
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t offset = 0;        // in the file
  uint32_t device_major = 0;  // as in /proc/PID/maps
  uint32_t device_minor = 0;
  std::string permissions;  // "r-xp"
  auto operator<=>(const CodeMapping&) const = default;
};

// Returns the line of the mapping in the format of /proc/PID/maps, with its line end.
std::string maps_line(const CodeMapping& mapping);

// Distinguishes a file from its other versions.
struct FileContent {
  uint64_t size_bytes = 0;
  uint32_t crc32c = 0;
  bool operator==(const FileContent&) const = default;
};

// Reads the whole file. Returns nothing if this fails, or if the file is not a regular file of at
// most kMostContentBytes.
inline constexpr uint64_t kMostContentBytes = uint64_t{1} << 30;
std::optional<FileContent> content_of(const std::filesystem::path& path);

struct ProgramMaps {
  struct File {
    std::string path;
    uint64_t inode = 0;
    std::optional<FileContent> content;  // empty: the recorder could not read the file
    std::vector<CodeMapping> mappings;
  };
  std::vector<File> files;
  size_t malformed = 0;  // lines that are not in the format
};

// Groups the mappings by file, and reads the files that have not been replaced or changed since
// `begun`, a time of CLOCK_REALTIME_COARSE, which file systems use: the mapped content may be
// another. This fails if the clock was set back meanwhile. Reads at most kMostReadBytes.
inline constexpr uint64_t kMostReadBytes = uint64_t{4} << 30;
ProgramMaps read_program_files(const std::set<CodeMapping>& mappings, const timespec& begun);

std::string to_text(const ProgramMaps& maps);

// Finds the section in the text of htm.maps. Accepts any text. Reads at most kMostCodeMappings.
inline constexpr size_t kMostCodeMappings = 4096;
ProgramMaps parse_program_maps(std::string_view text);

}  // namespace htmtrace

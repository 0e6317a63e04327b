// SPDX-License-Identifier: GPL-2.0-or-later
// The names of a recording's files. A trace file is htm.bin.SUFFIX, and its memory map is
// translation.SUFFIX. The suffix names the target. A compressed file also ends in ".zst" or ".gz".
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/target.h"

namespace htmtrace {

inline constexpr const char* kManifestName = "manifest.json";
// The sources of names: of the kernel, of the mapped files, and the pages of the workload.
inline constexpr const char* kKallsymsName = "htm.kallsyms";
inline constexpr const char* kMapsName = "htm.maps";
inline constexpr const char* kPagesName = "htm.pages";

// Returns the name of the subfolder of a numbered recording: "0001" and so on.
std::string numbered_name(uint64_t number);
// Returns whether numbered_name() makes names like this one.
bool is_numbered_name(std::string_view name);
// Returns whether the folder has such a name. The folder above it then has the names of addresses.
bool is_numbered(const std::filesystem::path& folder);

// The endings of compressed files. htmtrace record writes the first.
inline constexpr std::string_view kPackedSuffixes[] = {".zst", ".gz"};
inline constexpr std::string_view kRecordedPackedSuffix = kPackedSuffixes[0];

// "n0.p1.c12".
std::string file_suffix(uint32_t node, uint32_t chip, uint32_t core);

// Returns the suffix of each target's files. Adds ".tT" (1 nest, 2 core, 3 llat) if two targets
// would otherwise share a suffix.
std::vector<std::string> file_suffixes(const std::vector<TraceTarget>& targets);

std::string trace_file_name(const std::string& suffix);        // htm.bin.SUFFIX, uncompressed
std::string translation_file_name(const std::string& suffix);  // translation.SUFFIX

struct RecordedFileName {
  enum class Kind : uint8_t { kTrace, kTranslation };
  Kind kind = Kind::kTrace;
  std::string suffix;  // "n0.p1.c12" or "n0.p1.c12.t2"
  uint32_t node = 0;
  uint32_t chip = 0;
  uint32_t core = 0;
  std::optional<HtmType> type;     // if the suffix states it
  std::string_view packed_suffix;  // an element of kPackedSuffixes, or empty
};

// Returns nothing for the name of another file.
std::optional<RecordedFileName> parse_file_name(std::string_view name);

// Returns whether htmtrace record writes files of this name.
bool is_recording_file(std::string_view name);

// Returns the name without ".zst" or ".gz".
std::string_view without_packed_suffix(std::string_view name);

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
// Reads files of /proc/PID.
#pragma once

#include <filesystem>
#include <string>

namespace htmtrace {

// Returns an empty text if the file does not exist (any more), or is not readable.
std::string proc_text(const std::filesystem::path& path);

// proc(5), /proc/pid/stat: field numbers.
inline constexpr int kStatParent = 4;
inline constexpr int kStatFlags = 9;
inline constexpr int kStatStart = 22;
// Returns field `number` (3 or higher), or "0" if the field does not exist.
std::string stat_field(const std::string& stat, int number);

// Removes trailing line ends and replaces other line ends with '?'.
std::string one_line(std::string text);

}  // namespace htmtrace

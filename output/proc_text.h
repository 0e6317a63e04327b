// SPDX-License-Identifier: GPL-2.0-or-later
// Files of /proc/PID.
#pragma once

#include <filesystem>
#include <string>

namespace htmtrace {

// Empty when there is no such file (any more), or it may not be read.
std::string proc_text(const std::filesystem::path& path);

// proc(5), /proc/pid/stat: numbers of fields.
inline constexpr int kStatParent = 4;
inline constexpr int kStatStart = 22;
// Field `number`, from 3 on; "0" when there is none.
std::string stat_field(const std::string& stat, int number);

// Without the ends of lines.
std::string one_line(std::string text);

}  // namespace htmtrace

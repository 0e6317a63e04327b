// SPDX-License-Identifier: GPL-2.0-or-later
// Checks the files that a recording would write, before it begins. The functions throw Error.
#pragma once

#include <filesystem>

namespace htmtrace {

// The recorder creates the file after it has given up privileges. A device or a pipe is only
// opened. `option` names the file.
void check_can_write(const std::filesystem::path& file, const char* option);

// The file of --metrics must not be the file of -o, or, if the recording rotates, one of its
// numbered files. Neither needs to exist. An empty `output` is no file.
void check_is_no_recording(const std::filesystem::path& metrics,
                           const std::filesystem::path& output, bool rotates);

// `output` must name a regular file or a file that does not exist. The numbered files are in its
// folder.
void check_can_rotate(const std::filesystem::path& output);

}  // namespace htmtrace

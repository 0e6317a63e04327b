// SPDX-License-Identifier: GPL-2.0-or-later
// Finds earlier recordings in a folder, and removes those that a new recording replaces (--force)
// or that --keep limits. Only files that htmtrace wrote are removed: other files stay, links are
// not followed, and a subfolder without a recording is not touched.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace htmtrace {

// Returns the names of the numbered recordings in the folder, in the order of their numbers.
std::vector<std::string> numbered_recordings(const std::filesystem::path& folder);

// Returns true if the folder has a manifest.json of another program. Throws Error if the manifest
// cannot be read.
bool has_foreign_manifest(const std::filesystem::path& folder);

// Removes the files of earlier recordings from the folder, except the `kept` names, and the
// subfolders of several recordings, except number `current`.
void remove_earlier(const std::filesystem::path& folder, const std::set<std::string>& kept,
                    std::optional<uint64_t> current = {});

// Removes the subfolder of one of several recordings. Returns false if the removal fails, for
// example because other files are in it.
bool remove_recording(const std::filesystem::path& folder, uint64_t number);

}  // namespace htmtrace

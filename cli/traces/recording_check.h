// SPDX-License-Identifier: GPL-2.0-or-later
// Compares a recording's files with its manifest. All commands that read recordings get the result
// from choose_traces().
#pragma once

#include <filesystem>
#include <optional>
#include <span>

#include "cli/traces/choice.h"
#include "core/base/error.h"
#include "output/recording/manifest_reader.h"

namespace htmtrace {

// Reads the manifest beside the trace or in its stream. Without a manifest, the facts are empty.
// Throws Error.
ManifestFacts read_manifest_of(const ChosenTrace& trace);

// Notes in `trace` how its trace file and its memory map differ from the manifest: a recorder that
// was killed or still runs, files that are shorter, longer or missing, another recording's
// manifest, and losses that the recorder reported. Throws Error.
void compare_with_manifest(ChosenTrace& trace);

// Notes in the first trace of the folder which listed traces pass the filter but have no file.
// `found` must not be empty. Throws Error.
void find_missing_traces(const std::filesystem::path& folder, const TargetFilter& filter,
                         std::span<ChosenTrace> found);

// For a folder without any trace: returns an error that names the first trace of its manifest.
std::optional<Error> missing_traces(const std::filesystem::path& folder,
                                    const TargetFilter& filter);

}  // namespace htmtrace

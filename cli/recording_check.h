// SPDX-License-Identifier: GPL-2.0-or-later
// The one comparison of a recording's files with its manifest. All commands that read recordings
// get it with choose_traces().
#pragma once

#include <filesystem>
#include <optional>
#include <span>

#include "cli/trace_choice.h"
#include "core/error.h"
#include "output/manifest_reader.h"

namespace htmtrace {

// The manifest beside the trace, or in its stream; no facts when it has none. Throws Error.
ManifestFacts read_manifest_of(const ChosenTrace& trace);

// Notes in `trace` how its trace file and its memory map differ from the manifest: a recorder that
// was killed or still runs, files that are shorter, longer or missing, another recording's
// manifest, and what the recorder itself lost. Throws Error.
void compare_with_manifest(ChosenTrace& trace);

// Notes in the first trace of the folder which traces its manifest lists, the filter wants and no
// file holds. `found` is not empty. Throws Error.
void find_missing_traces(const std::filesystem::path& folder, const TargetFilter& filter,
                         std::span<ChosenTrace> found);

// Of a folder without any trace: an error that names the first one that its manifest lists.
std::optional<Error> missing_traces(const std::filesystem::path& folder,
                                    const TargetFilter& filter);

}  // namespace htmtrace

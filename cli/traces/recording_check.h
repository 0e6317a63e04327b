// SPDX-License-Identifier: GPL-2.0-or-later
// Compares a recording's files with its manifest. All commands that read recordings get the result
// from choose_traces().
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "cli/traces/choice.h"
#include "core/base/error.h"
#include "output/recording/manifest_reader.h"

namespace htmtrace {

// Reads manifests, and keeps the last one, because the traces of one recording follow one another.
class LastManifest {
 public:
  // The manifest beside the trace or in its stream. Without a manifest, the facts are empty. Valid
  // until the next call. Throws Error.
  const ManifestFacts& of(const ChosenTrace& trace);

 private:
  std::filesystem::path path_;
  std::vector<FileExtent> extents_;
  std::optional<ManifestFacts> facts_;
};

// Notes in `trace` how its trace file and its memory map differ from the manifest: a recorder that
// was killed or still runs, files that are shorter, longer or missing, another recording's
// manifest, and losses that the recorder reported. Keeps there what the manifest says about the
// trace. Throws Error.
void compare_with_manifest(ChosenTrace& trace, LastManifest& manifests);

// Notes in the first trace of the folder which listed traces pass the filter but have no file.
// `found` must not be empty. Throws Error.
void find_missing_traces(const std::filesystem::path& folder, const TargetFilter& filter,
                         std::span<ChosenTrace> found);

// For a folder without any trace: returns an error that names the first trace of its manifest.
std::optional<Error> missing_traces(const std::filesystem::path& folder,
                                    const TargetFilter& filter);

}  // namespace htmtrace

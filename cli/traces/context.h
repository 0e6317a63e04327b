// SPDX-License-Identifier: GPL-2.0-or-later
// The manifest and the memory map of a trace.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/traces/choice.h"
#include "core/base/target.h"
#include "core/memory_map/translation.h"

namespace htmtrace {

// Overrides from the command line.
struct ContextOptions {
  std::string translation;            // --translation
  std::optional<uint32_t> partition;  // --partition
  std::optional<HtmType> type;        // --type
};

// --type.
void declare_type(CLI::App& app, std::optional<HtmType>& type);

// --translation, --partition and --type.
void declare_context(CLI::App& app, ContextOptions& options);

// What the manifest of the trace says about it. Warns on stderr about an unusable manifest.
const ChosenTrace::OfManifest& manifest_of(const ChosenTrace& trace);

// Returns the trace type, from the command line or the manifest, or nothing if it is unknown.
std::optional<HtmType> type_of(const ContextOptions& options, const ChosenTrace& trace,
                               const ChosenTrace::OfManifest& manifest);

// Returns true if all traces are nest traces. A trace of unknown type counts as a core trace.
// Throws Error for a mix of both, and for an llat trace.
bool all_of_nest(const std::vector<ChosenTrace>& traces, const ContextOptions& options);

// Returns the parts that the traces lack, and the differences between files and manifests.
std::vector<Discrepancy> missing_of(const std::vector<ChosenTrace>& traces,
                                    const ContextOptions& options);

// Reports on stderr which parts the traces lack, how the files differ from their manifests, and
// which processors are not known.
// Call it when the job is done. Returns true if any part is missing or any file differs.
bool tell_missing(const std::vector<ChosenTrace>& traces, const ContextOptions& options);

// Warns on stderr that a trace read as a core trace has no core-trace record (no_tags()).
void tell_no_tags(const std::string& trace);

// Warns on stderr if `input` could not be read completely. Returns true if it warned.
bool tell_trouble(const InputFile& input);

// Returns all memory in the map of a trace: known_memory(). Throws Error if a file cannot be read.
std::vector<TranslationMap::Range> load_memory(const ContextOptions& options,
                                               const ChosenTrace& trace);

// Returns an empty map if no memory map is available. Warns on stderr about defects. Throws Error
// if the file named on the command line cannot be read.
TranslationMap load_map(const ContextOptions& options, const ChosenTrace& trace,
                        const ChosenTrace::OfManifest& manifest);

}  // namespace htmtrace

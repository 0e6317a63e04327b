// SPDX-License-Identifier: GPL-2.0-or-later
// What lies beside a trace and is needed to make sense of it: the manifest and the memory map.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/trace_choice.h"
#include "core/trace_target.h"
#include "core/translation_map.h"
#include "output/manifest_reader.h"

namespace htmtrace {

// What the command line says instead.
struct ContextOptions {
  std::string translation;            // --translation
  std::optional<uint32_t> partition;  // --partition
  std::optional<HtmType> type;        // --type
};

// --type.
void declare_type(CLI::App& app, std::optional<HtmType>& type);

// --translation, --partition and --type.
void declare_context(CLI::App& app, ContextOptions& options);

// Of the folder that the trace is in; no facts when there is none. A manifest that cannot be used
// is told on stderr.
ManifestFacts manifest_of(const ChosenTrace& trace);

// What kind of trace it is: what the command line says, else the manifest, else unknown.
std::optional<HtmType> type_of(const ContextOptions& options, const ChosenTrace& trace,
                               const ManifestFacts& facts);

// Whether all are of nests; traces that nothing is known of are of cores. Throws Error when some
// are and some are not, and when one is an llat trace.
bool all_of_nest(const std::vector<ChosenTrace>& traces, const ContextOptions& options);

// Reports on stderr which parts the traces lack, and how the files differ from their manifests.
// Call it when the job is done. Returns true if any part is missing or any file differs.
bool tell_missing(const std::vector<ChosenTrace>& traces, const ContextOptions& options);

// Tells on stderr that what was read as a core trace has no record of one (no_tags()).
void tell_no_tags(const std::string& trace);

// Tells on stderr why less than all could be read of `input`. Returns whether there is something.
bool tell_trouble(const InputFile& input);

// All memory that the map of a trace speaks of: known_memory(). Throws Error when a file
// cannot be read.
std::vector<TranslationMap::Range> load_memory(const ContextOptions& options,
                                               const ChosenTrace& trace);

// Empty when there is no map. What is wrong with it is told on stderr. Throws Error when the file
// named on the command line cannot be read.
TranslationMap load_map(const ContextOptions& options, const ChosenTrace& trace,
                        const ManifestFacts& facts);

}  // namespace htmtrace

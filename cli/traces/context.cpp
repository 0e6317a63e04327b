// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/traces/context.h"

#include <fmt/core.h>

#include <filesystem>
#include <map>
#include <set>
#include <system_error>

#include "cli/help.h"
#include "cli/messages.h"
#include "cli/one_of.h"
#include "core/base/error.h"
#include "core/base/processor.h"
#include "core/memory_map/known.h"
#include "output/io/input_file.h"

namespace htmtrace {
namespace {

constexpr uint64_t kMostTranslationBytes = 256 << 20;  // 8 million blocks of memory

// Returns whether a memory map is beside the trace. Accepts no FIFO: its open would wait for a
// writer.
bool has_map(const std::filesystem::path& path) {
  const auto type = type_of_file(path);
  if (type == std::filesystem::file_type::regular) return true;
  if (type == std::filesystem::file_type::not_found) return false;
  print_warning(fmt::format("cannot use {}: not a regular file; logical addresses are unknown",
                            path.string()));
  return false;
}

void warn_of_map(const TranslationReport& report, const std::string& name,
                 std::optional<uint32_t> partition) {
  if (report.damaged()) {
    print_warning(fmt::format("{} is damaged; addresses may be missing", name));
  }
  if (report.own_entries != 0) return;
  std::string partitions;
  for (const uint32_t number : report.partitions) partitions += fmt::format(" {}", number);
  if (partitions.empty()) {
    print_warning(fmt::format("{} has no entries; logical addresses are unknown", name));
  } else if (partition) {
    print_warning(
        fmt::format("{} has no entries of partition {}, only of:{}", name, *partition, partitions));
  } else {
    print_warning(fmt::format(
        "{} has entries of partitions{}; logical addresses are unknown without --partition N", name,
        partitions));
  }
}

// Warns about each processor whose records have no known format.
void tell_unknown_processors(const std::vector<ChosenTrace>& traces) {
  std::set<uint32_t> told;
  for (const ChosenTrace& trace : traces) {
    const auto pvr = trace.of_manifest.pvr;
    if (!pvr || find_processor(*pvr) != nullptr || !told.insert(*pvr).second) continue;
    print_warning(
        fmt::format("{} is from a processor that htmtrace does not know (version 0x{:08x}): "
                    "its records may have another format",
                    trace.name(), *pvr));
  }
}

}  // namespace

std::vector<Discrepancy> missing_of(const std::vector<ChosenTrace>& traces,
                                    const ContextOptions& options) {
  std::vector<Discrepancy> all;
  for (const ChosenTrace& trace : traces) {
    for (const std::string& text : trace.missing) {
      all.push_back({.text = fmt::format("{} is incomplete: {}", trace.name(), text), .hint = {}});
    }
    for (const Discrepancy& discrepancy : trace.discrepancies) {
      if (discrepancy.of_map && !options.translation.empty()) continue;
      all.push_back(discrepancy);
    }
  }
  return all;
}

bool tell_missing(const std::vector<ChosenTrace>& traces, const ContextOptions& options) {
  const std::vector<Discrepancy> all = missing_of(traces, options);
  for (const Discrepancy& discrepancy : all) print_warning(discrepancy.text, discrepancy.hint);
  tell_unknown_processors(traces);
  return !all.empty();
}

void tell_no_tags(const std::string& trace) {
  print_warning("no core-trace record in " + trace +
                ": is it a core trace? (nest traces have another format: --type nest)");
}

bool tell_trouble(const InputFile& input) {
  const std::string trouble = input.trouble();
  if (trouble.empty()) return false;
  print_warning(fmt::format("{} is incomplete: {}", input.name(), trouble));
  return true;
}

void declare_type(CLI::App& app, std::optional<HtmType>& type) {
  static const std::map<std::string, HtmType> types = {{"core", HtmType::kCore},
                                                       {"nest", HtmType::kNest}};
  app.add_option("--type", type, "Trace type: core, nest [from manifest.json]")
      ->transform(one_of(types))
      ->type_name("TYPE");
}

void declare_context(CLI::App& app, ContextOptions& options) {
  app.option_defaults()->group(kInputGroup);
  app.add_option("--translation", options.translation, "Memory map of the trace [translation.*]")
      ->type_name("FILE");
  app.add_option("--partition", options.partition, "LP index of the partition [from manifest.json]")
      ->type_name("N");
  declare_type(app, options.type);
}

const ChosenTrace::OfManifest& manifest_of(const ChosenTrace& trace) {
  const std::string& problem = trace.of_manifest.problem;
  if (!problem.empty()) {
    const bool own = !trace.manifest_extents.empty();
    const std::string name =
        own ? "the manifest of " + trace.name() : trace.manifest_path()->string();
    print_warning(fmt::format("cannot use {}: {}", name, problem));
  }
  return trace.of_manifest;
}

std::optional<HtmType> type_of(const ContextOptions& options, const ChosenTrace& trace,
                               const ChosenTrace::OfManifest& manifest) {
  if (options.type) return options.type;
  return trace.type ? trace.type : manifest.type;
}

bool all_of_nest(const std::vector<ChosenTrace>& traces, const ContextOptions& options) {
  size_t nest = 0;
  for (const ChosenTrace& trace : traces) {
    const auto type = type_of(options, trace, manifest_of(trace));
    nest += type == HtmType::kNest ? 1 : 0;
    if (type == HtmType::kLlat) {
      throw Error("cannot report on " + trace.name() +
                  ": it is an llat trace, whose format is not public");
    }
  }
  if (nest != 0 && nest != traces.size()) {
    throw Error("cannot read core and nest traces together")
        .hint("select traces of one type with --node, --chip and --core");
  }
  return nest != 0;
}

namespace {

struct MapFile {
  std::vector<std::byte> bytes;
  std::string name;
};

// Returns nothing without a memory map.
std::optional<MapFile> read_map_file(const ContextOptions& options, const ChosenTrace& trace) {
  std::optional<std::filesystem::path> path;
  if (!options.translation.empty()) {
    path = options.translation;
  } else if (const auto beside = trace.translation_path(); beside && has_map(*beside)) {
    path = beside;
  }
  const bool own = !path && !trace.map_extents.empty();
  if (!path && !own) return std::nullopt;
  InputFile input =
      own ? InputFile::open(trace.path, trace.map_extents) : InputFile::open_unpacked(*path);
  return MapFile{.bytes = input.read_all(kMostTranslationBytes),
                 .name = own ? "the map of " + trace.name() : path->string()};
}

}  // namespace

std::vector<TranslationMap::Range> load_memory(const ContextOptions& options,
                                               const ChosenTrace& trace) {
  const auto file = read_map_file(options, trace);
  if (!file) return {};
  return known_memory(file->bytes);
}

TranslationMap load_map(const ContextOptions& options, const ChosenTrace& trace,
                        const ChosenTrace::OfManifest& manifest) {
  const auto file = read_map_file(options, trace);
  if (!file) return {};
  // The logical addresses belong to the partition that recorded the trace.
  const std::optional<uint32_t> partition =
      options.partition ? options.partition : manifest.partition_id;
  TranslationMap map(file->bytes, partition);
  warn_of_map(map.report(), file->name, partition);
  return map;
}

}  // namespace htmtrace

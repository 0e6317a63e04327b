// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/traces/choice.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <span>
#include <system_error>
#include <tuple>
#include <utility>

#include "cli/dispatches/import.h"
#include "cli/traces/recording_check.h"
#include "cli/traces/stream_choice.h"
#include "core/base/error.h"
#include "core/dispatch_log/blocks.h"
#include "core/perf_data/file.h"
#include "core/selection/stream_frames.h"
#include "output/recording/earlier.h"
#include "output/recording/file_names.h"
#include "output/recording/manifest.h"

namespace htmtrace {
namespace {

namespace fs = std::filesystem;

ChosenTrace named(const fs::path& path) {
  ChosenTrace trace{.path = path, .place = {}, .type = {}};
  const auto name = parse_file_name(path.filename().string());
  if (name && name->kind == RecordedFileName::Kind::kTrace) {
    trace.place = ChosenTrace::Place{name->node, name->chip, name->core};
    trace.type = name->type;
  }
  return trace;
}

// Returns the only recording of a folder of several recordings (record --windows, --rotate,
// --wrap). Throws Error, which lists them, if there are more.
std::optional<fs::path> only_recording(const fs::path& folder) {
  constexpr size_t kMostListed = 8;
  const std::vector<std::string> names = numbered_recordings(folder);
  if (names.empty()) return std::nullopt;
  if (names.size() == 1) return folder / names.front();
  std::string list;
  for (size_t i = 0; i < std::min(names.size(), kMostListed); i++) {
    list += fmt::format("{}{}", i == 0 ? "" : ", ", (folder / names[i]).string());
  }
  if (names.size() > kMostListed) list += ", ..., " + (folder / names.back()).string();
  throw Error(fmt::format("folder {} holds {} recordings", folder.string(), names.size()))
      .hint("pass one of them: " + list);
}

void add_folder(const fs::path& folder, const TargetFilter& filter,
                std::vector<ChosenTrace>& chosen) {
  const size_t before = chosen.size();
  bool has_traces = false;
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    ChosenTrace trace = named(entry->path());
    has_traces |= trace.place.has_value();
    if (trace.place && matches(filter, *trace.place)) chosen.push_back(std::move(trace));
  }
  if (failure) throw Error("cannot read folder " + folder.string(), failure.value());
  if (chosen.size() == before) {
    if (auto error = missing_traces(folder, filter)) throw std::move(*error);
    const auto only = has_traces ? std::nullopt : only_recording(folder);
    if (only) return add_folder(*only, filter, chosen);
    throw Error("no such trace in folder " + folder.string())
        .hint("traces are named htm.bin.nN.pP.cC; htmtrace record -o DIR writes them");
  }
  std::sort(chosen.begin() + static_cast<ptrdiff_t>(before), chosen.end(),
            [](const ChosenTrace& a, const ChosenTrace& b) {
              return std::tie(a.place, a.type) < std::tie(b.place, b.type);
            });
  find_missing_traces(folder, filter, std::span(chosen).subspan(before));
}

// Chooses the traces of `path` if it is a perf.data file. Returns true if it is.
bool add_perf_data(const fs::path& path, const TargetFilter& filter,
                   std::vector<ChosenTrace>& chosen) {
  const fs::file_type type = type_of_file(path);
  // A pipe must not be opened twice.
  if (type != fs::file_type::not_found && type != fs::file_type::regular) return false;
  const InputFile file = InputFile::open(path);
  std::array<std::byte, kPerfDataMagicBytes> begin{};
  if (!file.size_bytes() || file.read_at(0, begin) != begin.size() || !is_perf_data(begin)) {
    return false;
  }
  const ReadAt read = [&file](uint64_t offset, std::span<std::byte> buffer) {
    return file.read_at(offset, buffer);
  };
  PerfDataContent content;
  try {
    content = find_traces(*file.size_bytes(), read);
  } catch (const Error& error) {
    throw error.about("cannot read " + path.string());
  }
  const size_t before = chosen.size();
  for (PerfDataTrace& found : content.traces) {
    const TraceTarget& target = found.target;
    ChosenTrace trace{.path = path,
                      .place = ChosenTrace::Place{target.node, target.chip, target.core},
                      .type = target.type,
                      .inside = true,
                      .extents = std::move(found.trace),
                      .map_extents = std::move(found.map),
                      .missing = std::move(found.missing)};
    if (!matches(filter, *trace.place)) continue;
    trace.missing.insert(trace.missing.end(), content.missing.begin(), content.missing.end());
    content.missing.clear();  // reported once
    chosen.push_back(std::move(trace));
  }
  if (chosen.size() == before) throw Error("no such trace in " + path.string());
  return true;
}

void add_standard_input(const TargetFilter& filter, std::optional<ScratchFile>& spool,
                        std::vector<ChosenTrace>& chosen) {
  ChosenTrace trace{.path = "-", .place = {}, .type = {}};
  trace.begun = InputFile::standard_input({}).read_begin(kPackedMagicBytes);
  if (is_dtl_recording(trace.begun)) {
    throw Error("cannot read a dispatch trace log from standard input")
        .hint("pass the name of the file");
  }
  if (!is_stream(trace.begun)) return chosen.push_back(std::move(trace));
  InputFile input = trace.open();
  spool.emplace();
  std::vector<std::byte> piece(InputFile::kPieceBytes);
  while (const size_t got = input.read(piece)) spool->append(std::span(piece).first(got));
  add_stream(spool->path(), "standard input", filter, chosen);
}

// Chooses the traces of `path` if it is a stored stream. Returns true if it is.
bool add_stored_stream(const fs::path& path, const TargetFilter& filter,
                       std::vector<ChosenTrace>& chosen) {
  if (type_of_file(path) != fs::file_type::regular) return false;
  if (!is_stream(InputFile::open(path).read_begin(kStreamMagicBytes))) return false;
  add_stream(path, path.string(), filter, chosen);
  return true;
}

}  // namespace

bool matches(const TargetFilter& filter, const ChosenTrace::Place& place) {
  return filter.node.value_or(place.node) == place.node &&
         filter.chip.value_or(place.chip) == place.chip &&
         filter.core.value_or(place.core) == place.core;
}

std::string ChosenTrace::describe() const {
  if (!place) return fmt::format("file={}", name());
  std::string target =
      fmt::format("node={},chip={},core={}", place->node, place->chip, place->core);
  if (type) target += fmt::format(",type={}", htm_type_name(*type));
  return fmt::format("{} file={}", target, name());
}

std::string ChosenTrace::short_name() const {
  if (!place) return name();
  return file_suffix(place->node, place->chip, place->core);
}

std::optional<fs::path> ChosenTrace::translation_path() const {
  const auto name = parse_file_name(path.filename().string());
  if (!name || !place || inside) return std::nullopt;
  return path.parent_path() / translation_file_name(name->suffix);
}

std::optional<fs::path> ChosenTrace::manifest_path() const {
  if (!place || inside) return std::nullopt;
  return path.parent_path() / kManifestName;
}

InputFile ChosenTrace::open() const {
  if (is_standard_input()) return InputFile::standard_input(begun);
  if (!inside) {
    InputFile file = InputFile::open_unpacked(path);
    if (expected_bytes) file.expect(*expected_bytes);
    return file;
  }
  InputFile file = InputFile::open(path, extents);
  file.show_as(name());
  return file;
}

std::vector<ChosenTrace> choose_traces(const std::vector<std::string>& paths,
                                       const TargetFilter& filter,
                                       std::optional<ScratchFile>& spool) {
  std::vector<ChosenTrace> chosen;
  for (const std::string& name : paths) {
    const fs::path path(name);
    if (name == "-") {
      add_standard_input(filter, spool, chosen);
    } else if (type_of_file(path) == fs::file_type::directory) {
      add_folder(path, filter, chosen);
    } else if (is_dispatch_log(path)) {
      throw Error(name + " is a dispatch trace log, not a trace of a core or a chip")
          .hint("pass it alone, or read it with htmtrace dtl --input");
    } else if (!add_perf_data(path, filter, chosen) && !add_stored_stream(path, filter, chosen)) {
      chosen.push_back(named(path));
    }
  }
  LastManifest manifests;
  for (ChosenTrace& trace : chosen) compare_with_manifest(trace, manifests);
  return chosen;
}

}  // namespace htmtrace

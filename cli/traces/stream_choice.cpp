// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/traces/stream_choice.h"

#include <fmt/core.h>

#include <utility>

#include "core/base/error.h"
#include "core/selection/stream_frames.h"
#include "output/recording/manifest_reader.h"

namespace htmtrace {
namespace {

ManifestFacts facts_of(const std::filesystem::path& path, const FileExtent& manifest) {
  if (manifest.size_bytes == 0) {
    ManifestFacts none;
    none.problem = "none arrived";
    return none;
  }
  return read_manifest(InputFile::open(path, {manifest}));
}

}  // namespace

void add_stream(const std::filesystem::path& path, const std::string& name,
                const TargetFilter& filter, std::vector<ChosenTrace>& chosen) {
  const InputFile file = InputFile::open(path);
  StreamContent content = find_recordings(
      file.size_bytes().value_or(0),
      [&file](uint64_t offset, auto buffer) { return file.read_at(offset, buffer); });
  const size_t before = chosen.size();
  for (StreamRecording& recording : content.recordings) {
    const ManifestFacts facts = facts_of(path, recording.manifest);
    for (size_t number = 0; number < recording.targets.size(); number++) {
      StreamRecording::Target& target = recording.targets[number];
      ChosenTrace trace{.path = path, .place = {}, .type = {}};
      if (number < facts.targets.size()) {
        const TraceTarget& known = facts.targets[number];
        trace.place = ChosenTrace::Place{known.node, known.chip, known.core};
        trace.type = known.type;
        if (!matches(filter, *trace.place)) continue;
      }
      trace.shown_as = name;
      if (content.recordings.size() > 1) trace.shown_as += fmt::format("#{}", recording.number);
      trace.inside = true;
      trace.extents = std::move(target.trace);
      trace.map_extents = std::move(target.translation);
      if (recording.manifest.size_bytes != 0) trace.manifest_extents = {recording.manifest};
      if (!content.trouble.empty()) trace.missing.push_back(std::exchange(content.trouble, {}));
      chosen.push_back(std::move(trace));
    }
  }
  if (chosen.size() != before) return;
  if (content.trouble.empty()) throw Error("no such trace in " + name);
  throw Error("no such trace in " + name).on(content.trouble);
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/traces/stream_choice.h"

#include <fmt/core.h>

#include <algorithm>
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

// The targets in the order of the manifest. A target that wrote nothing has no frames, so the
// manifest's targets before the last one with frames are added without any.
std::vector<StreamRecording::Target> targets_of(StreamRecording& recording, size_t listed) {
  std::vector<StreamRecording::Target> targets;
  for (StreamRecording::Target& target : recording.targets) {
    while (targets.size() < std::min<size_t>(target.number, listed)) {
      targets.push_back(
          {.number = static_cast<uint16_t>(targets.size()), .trace = {}, .translation = {}});
    }
    targets.push_back(std::move(target));
  }
  return targets;
}

}  // namespace

void add_stream(const std::filesystem::path& path, const std::string& name,
                const TargetFilter& filter, std::vector<ChosenTrace>& chosen) {
  const InputFile file = InputFile::open(path);
  StreamContent content;
  try {
    content = find_recordings(file.size_bytes().value_or(0), [&file](uint64_t offset, auto buffer) {
      return file.read_at(offset, buffer);
    });
  } catch (const Error& error) {
    throw error.about("cannot read " + name);
  }
  const size_t before = chosen.size();
  for (StreamRecording& recording : content.recordings) {
    const ManifestFacts facts = facts_of(path, recording.manifest);
    for (StreamRecording::Target& target : targets_of(recording, facts.targets.size())) {
      ChosenTrace trace{.path = path, .place = {}, .type = {}};
      if (target.number < facts.targets.size()) {
        const TraceTarget& known = facts.targets[target.number];
        trace.place = ChosenTrace::Place{known.node, known.chip, known.core};
        trace.type = known.type;
        if (!matches(filter, *trace.place)) continue;
      }
      trace.shown_as = name;
      if (content.recordings.size() > 1) trace.shown_as += fmt::format("#{}", recording.number);
      trace.inside = true;
      trace.extents = std::move(target.trace.extents);
      trace.map_extents = std::move(target.translation.extents);
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

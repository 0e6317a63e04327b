// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/traces/recording_check.h"

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/counted.h"
#include "core/base/crc32c.h"
#include "core/base/file_identity.h"
#include "output/io/input_file.h"
#include "output/io/trace_sink.h"
#include "output/recording/file_names.h"
#include "output/recording/manifest.h"

namespace htmtrace {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOtherManifest =
    "keep each trace with the manifest.json that htmtrace record wrote beside it";
constexpr const char* kCopyAgain = "copy the file again from the machine that recorded it";

std::optional<uint64_t> size_of(const fs::path& path) {
  std::error_code failure;
  const uint64_t size = fs::file_size(path, failure);
  if (failure) return std::nullopt;
  return size;
}

uint64_t size_of(const std::vector<FileExtent>& extents) {
  uint64_t sum = 0;
  for (const FileExtent& extent : extents) sum += extent.size_bytes;
  return sum;
}

uint64_t found_bytes(const ChosenTrace& trace) {
  return trace.inside ? size_of(trace.extents) : size_of(trace.path).value_or(0);
}

// The manifest's entry of a trace.
struct ListedTrace {
  const RecordedTarget* target = nullptr;
  bool lists_files = false;  // the manifest lists files, of this trace or of others
};

bool same_target(const TraceTarget& target, const ChosenTrace& trace) {
  return trace.place && target.node == trace.place->node && target.chip == trace.place->chip &&
         target.core == trace.place->core && trace.type.value_or(target.type) == target.type;
}

std::optional<HtmType> recorded_type(const ManifestFacts& facts, const ChosenTrace& trace) {
  if (!trace.place) return std::nullopt;
  for (const TraceTarget& target : facts.targets) {
    if (ChosenTrace::Place{target.node, target.chip, target.core} == *trace.place) {
      return target.type;
    }
  }
  return std::nullopt;
}

// Compares file names in a folder, and targets in a stream.
ListedTrace find_listed(const ManifestFacts& facts, const ChosenTrace& trace) {
  ListedTrace listed;
  const std::string name(without_packed_suffix(trace.path.filename().string()));
  for (size_t i = 0; i < facts.recorded.size(); i++) {
    const RecordedTarget& recorded = facts.recorded[i];
    if (recorded.trace.name.empty()) continue;
    listed.lists_files = true;
    const bool same = trace.inside ? same_target(facts.targets[i], trace)
                                   : without_packed_suffix(recorded.trace.name) == name;
    if (same) listed.target = &recorded;
  }
  return listed;
}

Discrepancy differing_sizes(const std::string& name, uint64_t expected, uint64_t found,
                            const char* when = "") {
  if (found < expected) {
    return {.text = fmt::format("{} is incomplete: its manifest expects {}{}, found {}", name,
                                counted(expected, "byte"), when, found),
            .hint = kCopyAgain};
  }
  return {.text = fmt::format("{} does not belong to its manifest: expected {}{}, found {}", name,
                              counted(expected, "byte"), when, found),
          .hint = kOtherManifest};
}

// True if the unpacked size is known without reading the whole file, and equals the recorded size.
bool has_recorded_size(const fs::path& path, const RecordedFile& recorded) {
  return recorded.bytes && InputFile::open_unpacked(path).size_bytes() == recorded.bytes;
}

// Returns no discrepancy if the sizes agree, or if only reading the content shows its size.
std::optional<Discrepancy> compare_sizes(ChosenTrace& trace, const RecordedFile& recorded) {
  const uint64_t found = found_bytes(trace);
  if (trace.inside) {
    if (found == recorded.bytes.value_or(found)) return std::nullopt;
    return differing_sizes(trace.name(), *recorded.bytes, found);
  }
  if (trace.path.filename() == recorded.name) {
    const uint64_t expected = recorded.stored_bytes.value_or(recorded.bytes.value_or(found));
    if (found == expected) return std::nullopt;
    // The file was compressed again after the recording.
    if (recorded.stored_bytes != recorded.bytes && has_recorded_size(trace.path, recorded)) {
      return std::nullopt;
    }
    return differing_sizes(trace.name(), expected, found);
  }
  if (!recorded.bytes) return std::nullopt;
  const auto content = InputFile::open_unpacked(trace.path).size_bytes();
  if (!content) trace.expected_bytes = recorded.bytes;
  if (content.value_or(*recorded.bytes) == *recorded.bytes) return std::nullopt;
  return differing_sizes(trace.name(), *recorded.bytes, *content, " when decompressed");
}

// Traces that filled their memory have the same size, so only their beginnings identify them.
std::optional<Discrepancy> compare_beginnings(const ChosenTrace& trace,
                                              const RecordedFile& recorded) {
  if (!recorded.beginning || !recorded.bytes) return std::nullopt;
  InputFile input = trace.open();
  if (!input.regular()) return std::nullopt;
  const auto beginning = input.read_begin(FileIdentity::kBeginningBytes);
  if (crc32c(beginning) == *recorded.beginning) return std::nullopt;
  return Discrepancy{
      .text = fmt::format(
          "{} does not belong to its manifest: expected {} bytes with checksum {:08x} at the "
          "beginning, found {:08x}",
          trace.name(), *recorded.bytes, *recorded.beginning, crc32c(beginning)),
      .hint = kOtherManifest};
}

std::optional<Discrepancy> compare_map(const ChosenTrace& trace, const RecordedFile& recorded) {
  if (!recorded.bytes) return std::nullopt;
  if (trace.inside) {
    const uint64_t found = size_of(trace.map_extents);
    if (found == *recorded.bytes) return std::nullopt;
    return differing_sizes("the memory map of " + trace.name(), *recorded.bytes, found);
  }
  const auto path = trace.translation_path();
  if (!path) return std::nullopt;
  const auto found = size_of(*path);
  if (!found) {
    if (*recorded.bytes == 0) return std::nullopt;
    return Discrepancy{.text = fmt::format("{} is missing: its manifest expects {} bytes, found no "
                                           "such file; logical addresses are unknown",
                                           path->string(), *recorded.bytes),
                       .hint = "name another memory map with --translation FILE"};
  }
  if (*found == *recorded.bytes || has_recorded_size(*path, recorded)) return std::nullopt;
  return differing_sizes(path->string(), *recorded.bytes, *found);
}

// The sizes in the manifest of an unfinished recording are not valid yet.
Discrepancy unfinished(const ChosenTrace& trace) {
  const uint64_t found = found_bytes(trace);
  if (!trace.inside && is_being_written(*trace.manifest_path())) {
    return {.text = fmt::format("{} is incomplete: its recording still runs; its final size is "
                                "not known, found {} bytes so far",
                                trace.name(), found),
            .hint = "wait for the end of htmtrace record"};
  }
  return {.text = fmt::format("{} is incomplete: its recorder ended before the recording was "
                              "complete; its expected size is not known, found {} bytes",
                              trace.name(), found),
          .hint = {}};
}

// With an unreadable manifest, completeness is unknown.
Discrepancy unreadable(const ChosenTrace& trace, const ManifestFacts& facts) {
  return {.text = fmt::format("{} may be incomplete: its manifest is unreadable ({}); its expected "
                              "size is not known, found {} bytes",
                              trace.name(), facts.problem, found_bytes(trace)),
          .hint = kCopyAgain};
}

// An invalid value may hide a loss.
Discrepancy invalid_manifest(const ChosenTrace& trace, const std::string& invalid) {
  return {.text = fmt::format("{} may be incomplete: its manifest has an invalid value ({}); found "
                              "{} bytes",
                              trace.name(), invalid, found_bytes(trace)),
          .hint = kCopyAgain};
}

Discrepancy failed(const ChosenTrace& trace, const ManifestFacts& facts) {
  const std::string why = facts.error.empty() ? "" : ": " + facts.error;
  return {
      .text = fmt::format("{} is incomplete: an error ended its recording{}", trace.name(), why),
      .hint = {}};
}

// Returns "n0.p1.c4" or "n0.p1.c4.t1", the form in which losses name their target.
std::string suffix_of(const std::string& trace_file) {
  const auto name = parse_file_name(trace_file);
  return name ? name->suffix : std::string();
}

std::optional<Discrepancy> recorded_losses(const ChosenTrace& trace, const ManifestFacts& facts,
                                           const RecordedFile& recorded) {
  const std::string suffix = suffix_of(recorded.name);
  const RecordedLoss* first = nullptr;
  size_t count = 0;
  for (const RecordedLoss& loss : facts.losses) {
    if (!loss.target.empty() && loss.target != suffix) continue;
    if (count++ == 0) first = &loss;
  }
  if (count == 0) return std::nullopt;
  const std::string more =
      count == 1 ? "" : fmt::format(", and {}", counted(count - 1, "more loss"));
  return Discrepancy{.text = fmt::format("{} is incomplete: its manifest reports a loss ({}: {}{})",
                                         trace.name(), first->place, first->cause, more),
                     .hint = {}};
}

ManifestFacts read_manifest_in(const fs::path& folder) {
  const fs::path path = folder / kManifestName;
  std::error_code failure;
  const fs::file_status status = fs::status(path, failure);
  if (status.type() == fs::file_type::not_found) return {};
  // The open of a FIFO would wait for a writer.
  if (status.type() != fs::file_type::regular) {
    ManifestFacts facts;
    facts.problem = failure ? failure.message() : "not a regular file";
    facts.unreadable = true;
    return facts;
  }
  return read_manifest(InputFile::open(path));
}

// The listed traces that pass the filter, but have neither a plain nor a compressed file.
std::vector<const RecordedFile*> without_file(const fs::path& folder, const ManifestFacts& facts,
                                              const TargetFilter& filter) {
  std::vector<const RecordedFile*> missing;
  for (size_t i = 0; i < facts.recorded.size(); i++) {
    const TraceTarget& target = facts.targets[i];
    const std::string& name = facts.recorded[i].trace.name;
    if (name.empty() || !matches(filter, {target.node, target.chip, target.core})) continue;
    const fs::path plain = folder / without_packed_suffix(name);
    bool there = type_of_file(plain) != fs::file_type::not_found;
    for (const std::string_view suffix : kPackedSuffixes) {
      there |= type_of_file(fs::path(plain) += suffix) != fs::file_type::not_found;
    }
    if (!there) missing.push_back(&facts.recorded[i].trace);
  }
  return missing;
}

std::string describe_missing(const fs::path& folder, const RecordedFile& file) {
  return fmt::format("{} is missing: its manifest expects {} bytes, found no such file",
                     (folder / file.name).string(),
                     file.stored_bytes.value_or(file.bytes.value_or(0)));
}

}  // namespace

const ManifestFacts& LastManifest::of(const ChosenTrace& trace) {
  const bool own = !trace.manifest_extents.empty();
  const fs::path path = own ? trace.path : trace.manifest_path().value_or(fs::path());
  if (facts_ && path == path_ && trace.manifest_extents == extents_) return *facts_;
  if (own) {
    facts_ = read_manifest(InputFile::open(path, trace.manifest_extents));
  } else {
    facts_ = path.empty() ? ManifestFacts{} : read_manifest_in(path.parent_path());
  }
  path_ = path;
  extents_ = trace.manifest_extents;
  return *facts_;
}

void compare_with_manifest(ChosenTrace& trace, LastManifest& manifests) {
  const ManifestFacts& facts = manifests.of(trace);
  trace.of_manifest = {.partition_id = facts.partition_id,
                       .pvr = facts.pvr,
                       .kernel_build_id = facts.kernel_build_id,
                       .type = recorded_type(facts, trace),
                       .problem = facts.problem};
  // A pipe must not be opened twice.
  if (!trace.inside && !size_of(trace.path)) return;
  const auto note = [&trace](std::optional<Discrepancy> found, bool of_map = false) {
    if (!found) return false;
    found->of_map = of_map;
    trace.discrepancies.push_back(std::move(*found));
    return true;
  };
  if (facts.unreadable) {
    note(unreadable(trace, facts));
    return;
  }
  if (!facts.invalid.empty()) note(invalid_manifest(trace, facts.invalid));
  const ListedTrace listed = find_listed(facts, trace);
  if (listed.target == nullptr && listed.lists_files) {
    note(Discrepancy{.text = fmt::format("{} is not listed in its manifest: its expected size is "
                                         "not known, found {} bytes",
                                         trace.name(), found_bytes(trace)),
                     .hint = kOtherManifest});
    return;
  }
  if (facts.unfinished) {
    // For a stream, `missing` already states the reason.
    if (trace.missing.empty()) note(unfinished(trace));
    return;
  }
  if (facts.failed) note(failed(trace, facts));
  if (listed.target == nullptr) return;
  const RecordedTarget& target = *listed.target;
  if (!target.trace.invalid.empty()) note(invalid_manifest(trace, target.trace.invalid));
  if (!target.translation.invalid.empty()) {
    note(invalid_manifest(trace, target.translation.invalid), /*of_map=*/true);
  }
  if (!note(compare_sizes(trace, target.trace))) note(compare_beginnings(trace, target.trace));
  note(compare_map(trace, target.translation), /*of_map=*/true);
  note(recorded_losses(trace, facts, target.trace));
}

void find_missing_traces(const fs::path& folder, const TargetFilter& filter,
                         std::span<ChosenTrace> found) {
  const ManifestFacts facts = read_manifest_in(folder);
  for (const RecordedFile* file : without_file(folder, facts, filter)) {
    found.front().discrepancies.push_back(
        {.text = describe_missing(folder, *file), .hint = kCopyAgain});
  }
}

std::optional<Error> missing_traces(const fs::path& folder, const TargetFilter& filter) {
  const ManifestFacts facts = read_manifest_in(folder);
  const auto missing = without_file(folder, facts, filter);
  if (missing.empty()) return std::nullopt;
  return Error("no such trace in folder " + folder.string())
      .on(describe_missing(folder, *missing.front()))
      .hint(kCopyAgain);
}

}  // namespace htmtrace

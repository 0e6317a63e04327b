// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/recording/files.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "core/base/error.h"
#include "output/recording/earlier.h"
#include "output/recording/file_names.h"
#include "output/recording/manifest.h"

namespace htmtrace {
namespace {

namespace fs = std::filesystem;

// A memory map of 32 TiB in 256 MiB blocks has 131072 entries of 32 bytes.
constexpr uint64_t kTranslationReserve = 4 << 20;
constexpr uint64_t kManifestReserve = 64 << 10;

TraceSink create_with_reserve(const fs::path& path, Existing existing, uint64_t reserve_bytes) {
  TraceSink sink = TraceSink::create(path, existing);
  sink.reserve(reserve_bytes);
  return sink;
}

bool is_writable_folder(const fs::path& folder) {
  return ::access((folder / ".").c_str(), W_OK | X_OK) == 0;  // "." makes access() fail for a file
}

// The recording creates the folder, with all folders above it.
void check_new_folder(const fs::path& folder) {
  std::error_code failure;
  fs::path above = fs::absolute(folder, failure).lexically_normal();
  while (::access(above.c_str(), F_OK) != 0 && errno == ENOENT && above.has_relative_path()) {
    above = above.parent_path();
  }
  if (is_writable_folder(above)) return;
  throw Error(fmt::format("cannot create folder {}", folder.string()), errno)
      .hint("choose another folder with -o");
}

void refuse_to_replace(const fs::path& path) {
  if (::access(path.c_str(), F_OK) != 0) return;
  throw Error(fmt::format("cannot create {}", path.string()), EEXIST)
      .on("the folder has a recording already")
      .hint("choose another folder with -o, or replace it with --force");
}

TargetFiles create_target_files(const fs::path& folder, const std::string& suffix,
                                Existing existing, std::optional<int> compression) {
  TraceFile translation(
      create_with_reserve(folder / translation_file_name(suffix), existing, kTranslationReserve));
  fs::path path = folder / trace_file_name(suffix);
  if (compression) path += kRecordedPackedSuffix;
  TraceFile trace = compression ? TraceFile::create_compressed(path, existing, *compression)
                                : TraceFile(create_with_reserve(path, existing, 0));
  return {suffix, std::move(trace), std::move(translation)};
}

}  // namespace

void check_session_folder(const fs::path& folder, const std::vector<TraceTarget>& targets,
                          Existing existing) {
  if (::access(folder.c_str(), F_OK) != 0) return check_new_folder(folder);
  if (!is_writable_folder(folder)) {
    throw Error(fmt::format("cannot write to folder {}", folder.string()), errno)
        .hint("choose another folder with -o");
  }
  if (existing == Existing::kReplace) {
    if (!has_foreign_manifest(folder)) return;
    throw Error(fmt::format("cannot replace {}", (folder / kManifestName).string()))
        .on("reason: htmtrace did not write it")
        .hint("choose another folder with -o");
  }
  for (const std::string& suffix : file_suffixes(targets)) {
    refuse_to_replace(folder / trace_file_name(suffix));
    refuse_to_replace(folder / (trace_file_name(suffix) += kRecordedPackedSuffix));
    refuse_to_replace(folder / translation_file_name(suffix));
  }
  refuse_to_replace(folder / kManifestName);
  refuse_to_replace(folder / numbered_name(1));
}

SessionFiles create_session_files(const fs::path& folder, const std::vector<TraceTarget>& targets,
                                  Existing existing, std::optional<int> compression) {
  create_folders(folder);
  SessionFiles files{
      TraceFile(create_with_reserve(folder / kManifestName, existing, kManifestReserve)), {}};
  files.targets.reserve(targets.size());
  for (const std::string& suffix : file_suffixes(targets)) {
    files.targets.push_back(create_target_files(folder, suffix, existing, compression));
  }
  return files;
}

SessionFiles create_session_parts(TraceStream& stream, uint32_t recording,
                                  const std::vector<TraceTarget>& targets) {
  using Kind = StreamFrame::Kind;
  const auto part = [&](Kind kind, size_t target, const std::string& name) {
    return TraceFile(StreamPart{.stream = stream,
                                .kind = kind,
                                .target = static_cast<uint16_t>(target),
                                .recording = recording},
                     name);
  };
  SessionFiles files{part(Kind::kManifest, 0, kManifestName), {}};
  files.targets.reserve(targets.size());
  for (const std::string& suffix : file_suffixes(targets)) {
    const size_t number = files.targets.size();
    files.targets.push_back({suffix, part(Kind::kTrace, number, trace_file_name(suffix)),
                             part(Kind::kTranslation, number, translation_file_name(suffix))});
  }
  return files;
}

// Begins with the manifest: if begin() is interrupted, the files must not look like a complete
// recording.
void SessionFiles::begin() {
  manifest.begin();
  for (TargetFiles& target : targets) {
    target.trace.begin();
    target.translation.begin();
  }
}

std::set<std::string> SessionFiles::names() const {
  std::set<std::string> names{manifest.name()};
  for (const TargetFiles& target : targets) {
    names.insert(target.trace.name());
    names.insert(target.translation.name());
  }
  return names;
}

void SessionFiles::discard() {
  for (TargetFiles& target : targets) {
    target.trace.discard();
    target.translation.discard();
  }
  manifest.discard();
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/recording/files.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/base/error.h"
#include "output/recording/file_names.h"
#include "output/recording/manifest.h"
#include "output/recording/symbol_files.h"

namespace htmtrace {
namespace {

namespace fs = std::filesystem;

// A memory map of 32 TiB in 256 MiB blocks has 131072 entries of 32 bytes.
constexpr uint64_t kTranslationReserve = 4 << 20;
constexpr uint64_t kManifestReserve = 64 << 10;

bool is_number(std::string_view name) {
  return name.size() >= 4 && name.find_first_not_of("0123456789") == std::string_view::npos;
}

// Files of an earlier recording would look like part of the new recording.
void remove_earlier_files(const fs::path& folder) {
  std::error_code failure;
  std::vector<fs::path> earlier;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    if (is_recording_file(entry->path().filename().string())) earlier.push_back(entry->path());
  }
  for (const fs::path& path : earlier) fs::remove(path, failure);
}

TraceSink create_with_reserve(const fs::path& path, Existing existing, uint64_t reserve_bytes) {
  TraceSink sink = TraceSink::create(path, existing);
  try {
    sink.reserve(reserve_bytes);
  } catch (...) {
    sink.discard();
    throw;
  }
  return sink;
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
  try {
    fs::path path = folder / trace_file_name(suffix);
    if (compression) path += kRecordedPackedSuffix;
    TraceFile trace = compression ? TraceFile::create_compressed(path, existing, *compression)
                                  : TraceFile(create_with_reserve(path, existing, 0));
    return {suffix, std::move(trace), std::move(translation)};
  } catch (...) {
    translation.discard();
    throw;
  }
}

}  // namespace

bool is_recording_file(std::string_view name) {
  if (const auto parsed = parse_file_name(name)) {
    return parsed->packed_suffix.empty() || parsed->packed_suffix == kRecordedPackedSuffix;
  }
  constexpr std::string_view kOthers[] = {kManifestName, kKallsymsName, kMapsName, kPagesName};
  return std::ranges::find(kOthers, name) != std::end(kOthers);
}

std::string numbered_name(uint64_t number) {
  return fmt::format("{:04}", number);
}

bool remove_recording(const fs::path& folder) {
  std::error_code failure;
  remove_earlier_files(folder);
  return fs::remove(folder, failure) && !failure;
}

void remove_earlier(const fs::path& folder) {
  std::error_code failure;
  std::vector<fs::path> numbered;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    if (is_number(entry->path().filename().string())) numbered.push_back(entry->path());
  }
  for (const fs::path& path : numbered)
    remove_recording(path);  // fails if the folder also holds other files
  remove_earlier_files(folder);
}

void check_session_folder(const fs::path& folder, const std::vector<TraceTarget>& targets,
                          Existing existing) {
  if (::access(folder.c_str(), F_OK) != 0) return;           // the recording creates the folder
  if (::access((folder / ".").c_str(), W_OK | X_OK) != 0) {  // "." makes access() fail for a file
    throw Error(fmt::format("cannot write to folder {}", folder.string()), errno)
        .hint("choose another folder with -o");
  }
  if (existing == Existing::kReplace) return;
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
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) {
    throw Error(fmt::format("cannot create folder {}", folder.string()), failure.value())
        .hint("choose another folder with -o");
  }
  if (existing == Existing::kReplace) remove_earlier(folder);
  SessionFiles files{
      TraceFile(create_with_reserve(folder / kManifestName, existing, kManifestReserve)), {}};
  files.targets.reserve(targets.size());
  try {
    for (const std::string& suffix : file_suffixes(targets)) {
      files.targets.push_back(create_target_files(folder, suffix, existing, compression));
    }
  } catch (...) {
    files.discard();
    throw;
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

void SessionFiles::discard() {
  for (TargetFiles& target : targets) {
    target.trace.discard();
    target.translation.discard();
  }
  manifest.discard();
}

}  // namespace htmtrace

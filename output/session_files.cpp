// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/session_files.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "core/error.h"
#include "output/manifest.h"

namespace htmtrace {
namespace {

namespace fs = std::filesystem;

// A memory map of 32 TiB in 256 MiB blocks has 131072 entries of 32 bytes.
constexpr uint64_t kTranslationReserve = 4 << 20;
constexpr uint64_t kManifestReserve = 64 << 10;

// Removes what was made when a later step throws.
TraceSink create_or_discard(const fs::path& path, Existing existing,
                            std::initializer_list<TraceSink*> earlier, uint64_t reserve_bytes) {
  try {
    TraceSink sink = TraceSink::create(path, existing);
    try {
      sink.reserve(reserve_bytes);
    } catch (...) {
      sink.discard();
      throw;
    }
    return sink;
  } catch (...) {
    for (TraceSink* sink : earlier) sink->discard();
    throw;
  }
}

}  // namespace

std::string trace_file_name(const TraceTarget& target) {
  return "htm.bin." + file_suffix(target);
}

std::string translation_file_name(const TraceTarget& target) {
  return "translation." + file_suffix(target);
}

void check_session_folder(const fs::path& folder, const TraceTarget& target, Existing existing) {
  if (::access(folder.c_str(), F_OK) != 0) return;           // will be made
  if (::access((folder / ".").c_str(), W_OK | X_OK) != 0) {  // with "." a file is no folder
    throw Error(fmt::format("cannot write to folder {}", folder.string()), errno)
        .hint("choose another folder with -o");
  }
  if (existing == Existing::kReplace) return;
  for (const std::string& name :
       {trace_file_name(target), translation_file_name(target), std::string(kManifestName)}) {
    const fs::path path = folder / name;
    if (::access(path.c_str(), F_OK) != 0) continue;
    throw Error(fmt::format("cannot create {}", path.string()), EEXIST)
        .on("a recording is there already")
        .hint("choose another folder with -o, or replace it with --force");
  }
}

SessionFiles create_session_files(const fs::path& folder, const TraceTarget& target,
                                  Existing existing) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) {
    throw Error(fmt::format("cannot create folder {}", folder.string()), failure.value())
        .hint("choose another folder with -o");
  }
  TraceSink manifest = create_or_discard(folder / kManifestName, existing, {}, kManifestReserve);
  TraceSink translation = create_or_discard(folder / translation_file_name(target), existing,
                                            {&manifest}, kTranslationReserve);
  TraceSink trace =
      create_or_discard(folder / trace_file_name(target), existing, {&manifest, &translation}, 0);
  return {std::move(trace), std::move(translation), std::move(manifest)};
}

void SessionFiles::discard() {
  trace.discard();
  translation.discard();
  manifest.discard();
}

}  // namespace htmtrace

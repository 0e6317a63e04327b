// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/source_lines/source_files.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/counted.h"
#include "core/base/error.h"

namespace htmtrace {

SourceFiles::File& SourceFiles::opened(const std::string& path) {
  const auto [place, added] = files_.try_emplace(path);
  File& file = place->second;
  if (!added) return file;
  try {
    file.info = std::make_unique<DebugInfo>(path, folders_, budgets_);
  } catch (const Error& error) {
    file.problem = error.what();
  }
  return file;
}

DebugInfo::Span SourceFiles::find(EffectiveAddr address, std::vector<SourceFrame>& frames) {
  frames.clear();
  const SymbolTable::File* const file = symbols_.file_of(address);
  const DebugInfo::Span alone{.begin = address.value, .end = address.value + 1};
  if (file == nullptr) return alone;
  const std::lock_guard lock(mutex_);
  const File& found = opened(file->path);
  if (found.info == nullptr) return alone;
  // The owner and the distance are the same for all addresses of the file.
  const uint64_t distance = address.value - owned::plain(address.value) + file->distance;
  const DebugInfo::Span span = found.info->find(address.value - distance, frames);
  return {.begin = span.begin + distance, .end = span.end + distance};
}

std::vector<std::string> SourceFiles::problems() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> texts;
  for (const auto& [path, file] : files_) {
    if (!file.problem.empty()) texts.push_back(file.problem);
    if (file.info == nullptr) continue;
    const DebugInfo::Damage& damage = file.info->damage();
    if (damage.units == 0) continue;
    texts.push_back(fmt::format("cannot use {} of the debug information of {}: {}",
                                counted(damage.units, "part"), file.info->path().string(),
                                damage.first));
  }
  return texts;
}

SourceFiles::Use SourceFiles::use() const {
  const std::lock_guard lock(mutex_);
  Use use{.files = files_.size()};
  for (const auto& [path, file] : files_) use.with_lines += file.info != nullptr ? 1 : 0;
  return use;
}

}  // namespace htmtrace

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

// The addresses around `plain` that belong to no file. `plain` is a user or a kernel address.
DebugInfo::Span SourceFiles::gap_at(uint64_t plain) const {
  DebugInfo::Span gap{.begin = 0, .end = uint64_t{1} << owned::kShift};
  if (!owned::is_user(plain)) gap = {.begin = owned::kFirstWithout, .end = ~uint64_t{0}};
  for (const SymbolTable::File& file : symbols_.files()) {
    if (file.end <= plain) gap.begin = std::max(gap.begin, file.end);
    if (file.begin > plain) gap.end = std::min(gap.end, file.begin);
  }
  return gap;
}

// Calls find(debug info, address in the file), which returns the addresses around it with the same
// answer. Does not call `find` if no file with debug information has the address.
template <class Find>
DebugInfo::Span SourceFiles::find_in_file(EffectiveAddr address, const Find& find) {
  const SymbolTable::File* const file = symbols_.file_of(address);
  const uint64_t plain = owned::plain(address.value), owner = address.value - plain;
  if (file == nullptr) {
    const DebugInfo::Span gap = gap_at(plain);
    return {.begin = owner + gap.begin, .end = owner + gap.end};
  }
  const std::lock_guard lock(mutex_);
  const File& found = opened(file->path);
  if (found.info == nullptr) return {.begin = owner + file->begin, .end = owner + file->end};
  // The owner and the distance are the same for all addresses of the file.
  const uint64_t distance = owner + file->distance;
  const DebugInfo::Span span = find(*found.info, address.value - distance);
  const uint64_t begin = std::max(span.begin, file->begin - file->distance);
  const uint64_t end = std::min(span.end, file->end - file->distance);
  return {.begin = begin + distance, .end = end + distance};
}

DebugInfo::Span SourceFiles::find(EffectiveAddr address, std::vector<SourceFrame>& frames) {
  frames.clear();
  return find_in_file(
      address, [&](DebugInfo& info, uint64_t in_file) { return info.find(in_file, frames); });
}

DebugInfo::Span SourceFiles::find_inlined(EffectiveAddr address,
                                          std::vector<std::string_view>& names) {
  names.clear();
  return find_in_file(address, [&](DebugInfo& info, uint64_t in_file) {
    return info.find_inlined(in_file, names);
  });
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

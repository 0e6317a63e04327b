// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/analysis/page_owners.h"

#include <string_view>

namespace htmtrace {

uint32_t PageOwners::file_number(const std::string& path) {
  const auto [place, added] = numbers_.try_emplace(path, static_cast<uint32_t>(numbers_.size()));
  return place->second;
}

uint32_t PageOwners::number_of(const std::string& path) const {
  const auto place = numbers_.find(path);
  return place == numbers_.end() ? kNone : place->second;
}

uint32_t PageOwners::number_of_name(const std::string& name) const {
  uint32_t found = kNone;
  for (const auto& [path, number] : numbers_) {
    if (std::string_view(path).substr(path.rfind('/') + 1) != name) continue;
    if (found != kNone) return kNone;
    found = number;
  }
  return found;
}

void PageOwners::add_mapping(uint32_t process, uint32_t file) {
  processes_[process].push_back(file);
}

std::vector<bool> PageOwners::near(const std::vector<uint32_t>& files) const {
  std::vector<bool> near(numbers_.size());
  for (uint32_t process = 0; process < processes_.size(); process++) {
    const auto has_this = [&](uint32_t file) { return has_mapped(process, file); };
    if (std::none_of(files.begin(), files.end(), has_this)) continue;
    for (const uint32_t file : processes_[process]) near[file] = true;
  }
  return near;
}

void PageOwners::finish() {
  const auto sort_once = [](std::vector<uint32_t>& files) {
    std::sort(files.begin(), files.end());
    files.erase(std::unique(files.begin(), files.end()), files.end());
  };
  for (std::vector<uint32_t>& files : processes_) sort_once(files);
  sort_once(listed_);
  std::sort(runs_.begin(), runs_.end(), [](const Run& a, const Run& b) { return a.la < b.la; });
  uint64_t reach = 0;
  for (Run& run : runs_) {
    reach = std::max(reach, run.la + run.size_bytes);
    run.reach = reach;
  }
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/page_owners.h"

namespace htmtrace {

uint32_t PageOwners::file_number(const std::string& name) {
  const auto [place, added] = numbers_.try_emplace(name, static_cast<uint32_t>(numbers_.size()));
  return place->second;
}

uint32_t PageOwners::number_of(const std::string& name) const {
  const auto place = numbers_.find(name);
  return place == numbers_.end() ? kNone : place->second;
}

void PageOwners::add_mapping(uint32_t process, uint32_t file) {
  if (!has_mapped(process, file)) processes_[process].push_back(file);
}

bool PageOwners::share_process(uint32_t a, uint32_t b) const {
  for (uint32_t process = 0; process < processes_.size(); process++) {
    if (has_mapped(process, a) && has_mapped(process, b)) return true;
  }
  return false;
}

void PageOwners::finish() {
  std::sort(runs_.begin(), runs_.end(), [](const Run& a, const Run& b) { return a.la < b.la; });
  uint64_t reach = 0;
  for (Run& run : runs_) {
    reach = std::max(reach, run.la + run.size_bytes);
    run.reach = reach;
  }
}

}  // namespace htmtrace

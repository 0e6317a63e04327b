// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/analysis/page_owners.h"

#include <iterator>
#include <string_view>

namespace htmtrace {

uint32_t PageOwners::file_number(const std::string& path, uint64_t inode) {
  const auto number = static_cast<uint32_t>(numbers_.size());
  return numbers_.try_emplace({path, inode}, number).first->second;
}

uint32_t PageOwners::number_of(const std::string& path, uint64_t inode) const {
  const auto place = numbers_.lower_bound({path, inode});
  if (place == numbers_.end() || place->first.first != path) return kNone;
  if (inode != 0) return place->first.second == inode ? place->second : kNone;
  const auto next = std::next(place);
  return next == numbers_.end() || next->first.first != path ? place->second : kNone;
}

uint32_t PageOwners::number_of_name(const std::string& name) const {
  uint32_t found = kNone;
  for (const auto& [file, number] : numbers_) {
    const std::string_view path = file.first;
    if (path.substr(path.rfind('/') + 1) != name) continue;
    if (found != kNone) return kNone;
    found = number;
  }
  return found;
}

void PageOwners::add_mapping(uint32_t process, uint32_t file) {
  processes_[process].files.push_back(file);
}

std::vector<bool> PageOwners::near(const std::vector<uint32_t>& files) const {
  std::vector<bool> near(numbers_.size());
  for (uint32_t process = 0; process < processes_.size(); process++) {
    const auto has_this = [&](uint32_t file) { return has_mapped(process, file); };
    if (std::none_of(files.begin(), files.end(), has_this)) continue;
    for (const uint32_t file : processes_[process].files) near[file] = true;
  }
  return near;
}

std::vector<const Process*> PageOwners::processes(bool provable) const {
  std::vector<const Process*> found;
  for (const Known& known : processes_) {
    // PID 0 stands for files without a process.
    const bool is_process = known.process.kind == Process::Kind::kProcess && known.process.pid != 0;
    if (is_process && known.provable == provable) found.push_back(&known.process);
  }
  return found;
}

const Process* PageOwners::user(EffectiveAddr ea, LogicalAddr la) const {
  const Process* found = nullptr;
  bool uncertain = false;
  const bool all = visit(la, [&](const Run& run) {
    if (!run.own || run.process == kNone || run.ea + (la.value - run.la) != ea.value) return false;
    const Known& known = processes_[run.process];
    const Process* const owner = known.provable ? &known.process : &Process::unknown();
    // At an address that is not random, another process may also have had the page.
    uncertain = !known.is_random_at(ea.value) || (found != nullptr && found != owner);
    found = owner;
    return uncertain;
  });
  return all && !uncertain ? found : nullptr;
}

void PageOwners::finish() {
  const auto sort_once = [](std::vector<uint32_t>& files) {
    std::sort(files.begin(), files.end());
    files.erase(std::unique(files.begin(), files.end()), files.end());
  };
  for (Known& process : processes_) sort_once(process.files);
  sort_once(listed_);
  std::sort(runs_.begin(), runs_.end(), [](const Run& a, const Run& b) { return a.la < b.la; });
  uint64_t reach = 0;
  for (Run& run : runs_) {
    reach = std::max(reach, run.la + run.size_bytes);
    run.reach = reach;
  }
}

}  // namespace htmtrace

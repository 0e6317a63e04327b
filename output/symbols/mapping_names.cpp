// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/symbols/mapping_names.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/base/budget.h"
#include "core/base/plain_text.h"

namespace htmtrace {
namespace {

// Names the regions of Linux's kernel addresses on 64-bit POWER by their first 16 bits
// (arch/powerpc/include/asm/book3s/64/radix.h).
std::string kernel_region(uint64_t address) {
  switch (address >> 48) {
    case 0xc000:
      return "[kernel: linear map]";
    case 0xc008:
      return "[kernel: vmalloc]";
    case 0xc00a:
      return "[kernel: I/O]";
    case 0xc00c:
      return "[kernel: page descriptors]";
    default:
      return "[kernel]";
  }
}

// The line before the mappings of each process whose mappings are all listed, and before files.
constexpr std::string_view kProcess = "# pid ";
constexpr std::string_view kFiles = "# pid 0 ";

constexpr bool is_kernel(uint64_t address) {
  return address >> 52 != 0;
}

// A stack may have grown since the recorder saw its bounds (getrlimit(2): 8 MiB by default).
constexpr uint64_t kStackBytes = 8 << 20;

std::optional<uint64_t> number(std::string_view& text) {
  uint64_t value = 0;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (failure != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(stop - text.data()));
  return value;
}

// The path in "PERMISSIONS OFFSET DEVICE INODE PATH", which follows the bounds of a mapping.
std::string_view path_of(std::string_view rest) {
  for (int fields = 0; fields < 4; fields++) {
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    rest.remove_prefix(std::min(rest.find(' '), rest.size()));
  }
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  return rest;
}

}  // namespace

void MappingNames::add_file(std::string_view text) {
  MemoryBudget budget(text.size());
  bool of_files = false;  // lines with offsets in files instead of addresses
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.starts_with(kProcess)) {
      of_files = line.starts_with(kFiles);
      knows_all_ |= !of_files;
    }
    if (of_files) continue;
    const auto begin = number(line);
    if (!begin || !line.starts_with('-')) continue;
    line.remove_prefix(1);
    const auto end = number(line);
    if (!end || *end <= *begin || is_kernel(*begin)) continue;
    const std::string_view path = path_of(line);
    Mapping mapping{.begin = *begin, .end = *end, .name = std::string(path)};
    if (path.starts_with('/')) mapping.name = path.substr(path.rfind('/') + 1);
    if (path.empty()) mapping.name = "[anonymous]";
    mapping.name = without_controls(mapping.name);
    // Sorting moves the mappings to a second place.
    constexpr uint64_t kTextBytes = 32;
    budget.take(grown_bytes<Mapping>() + kTextBytes + mapping.name.size());
    if (path == "[stack]") mapping.begin -= std::min(mapping.begin, kStackBytes);
    mappings_.push_back(std::move(mapping));
  }
  std::stable_sort(mappings_.begin(), mappings_.end(),
                   [](const Mapping& a, const Mapping& b) { return a.begin < b.begin; });
  uint64_t reach = 0;
  for (Mapping& mapping : mappings_) reach = mapping.reach = std::max(reach, mapping.end);
}

std::string MappingNames::name(uint64_t address) const {
  if (is_kernel(address)) return kernel_region(address);
  if (mappings_.empty()) return {};
  auto mapping = std::upper_bound(mappings_.begin(), mappings_.end(), address,
                                  [](uint64_t value, const Mapping& m) { return value < m.begin; });
  const std::string* found = nullptr;
  constexpr size_t kMostLooks = 4096;
  for (size_t left = kMostLooks; left != 0 && mapping != mappings_.begin(); left--) {
    --mapping;
    if (mapping->reach <= address) break;
    if (address >= mapping->end) continue;
    if (found != nullptr && *found != mapping->name) return "[several mappings]";
    found = &mapping->name;
  }
  if (found != nullptr) return *found;
  return knows_all_ ? "[no mapping]" : "";
}

}  // namespace htmtrace

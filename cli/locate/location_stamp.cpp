// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/locate/location_stamp.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <cctype>
#include <fstream>
#include <iterator>

namespace htmtrace {
namespace {

namespace fs = std::filesystem;

// 0 if the file does not exist.
uint64_t inode_of(const fs::path& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 ? facts.st_ino : 0;
}

std::string word_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  for (char& each : text) {
    if (std::isgraph(static_cast<unsigned char>(each)) == 0) each = '_';
  }
  return text;
}

}  // namespace

std::string location_stamp(int cpu, const fs::path& root) {
  const fs::path tree = root / "sys/firmware/devicetree/base";
  const fs::path folder = root / fmt::format("sys/devices/system/cpu/cpu{}", cpu);
  std::string stamp = "boot=" + word_of(root / "proc/sys/kernel/random/boot_id");
  for (const char* property : {"model", "system-id"}) {
    stamp +=
        fmt::format(";{}={}:{}", property, inode_of(tree / property), word_of(tree / property));
  }
  for (const char* part : {"of_node", "topology", "cache"}) {
    stamp += fmt::format(";{}={}", part, inode_of(folder / part));
  }
  return stamp;
}

}  // namespace htmtrace

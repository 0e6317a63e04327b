// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/locate/location_stamp.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <cctype>
#include <cerrno>
#include <cstddef>
#include <vector>

#include "core/base/error.h"
#include "output/io/input_file.h"

namespace htmtrace {
namespace {

namespace fs = std::filesystem;

// 0 if the file does not exist.
uint64_t inode_of(const fs::path& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) == 0) return facts.st_ino;
  if (errno != ENOENT) throw Error("cannot read the state of the machine: " + path.string(), errno);
  return 0;
}

// Empty if the file does not exist.
std::string word_of(const fs::path& path) {
  constexpr uint64_t kMostBytes = 64 << 10;
  if (inode_of(path) == 0) return {};
  const std::vector<std::byte> bytes = InputFile::open(path).read_all(kMostBytes);
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (char& each : text) {
    if (std::isgraph(static_cast<unsigned char>(each)) == 0) each = '_';
  }
  return text;
}

}  // namespace

std::string location_stamp(int cpu, const fs::path& root) {
  const fs::path tree = root / "sys/firmware/devicetree/base";
  const fs::path folder = root / fmt::format("sys/devices/system/cpu/cpu{}", cpu);
  const fs::path boot_id = root / "proc/sys/kernel/random/boot_id";
  std::string stamp = "boot=" + word_of(boot_id);
  if (stamp.ends_with('=')) throw Error("the kernel has no boot ID: " + boot_id.string());
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

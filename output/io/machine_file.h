// SPDX-License-Identifier: GPL-2.0-or-later
// The small text files in which the kernel describes the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace htmtrace {

struct MachineFile {
  // read_machine_file() stops after about this number of bytes, without an error.
  // POWER's /proc/cpuinfo has about 130 bytes for each CPU, and the timebase follows the last CPU.
  // Linux for POWER has at most 8192 CPUs (NR_CPUS in arch/powerpc/platforms/Kconfig.cputype).
  static constexpr size_t kMostBytes = 4 << 20;

  int reason = 0;  // errno of a failed open or read; EINVAL: not a regular file
  std::string text;
};
MachineFile read_machine_file(const std::filesystem::path& path);

// Returns the file's text without its last newlines and NULs, or nothing if it cannot be read.
std::optional<std::string> text_of(const std::filesystem::path& path);
// Returns nothing if the text is not exactly a number.
std::optional<int64_t> number_in(const std::filesystem::path& path);
// Returns the rest of the first line of `text` that begins with "KEY<blanks>SEPARATOR<blanks>", or
// an empty string. Blanks are spaces and tabs.
std::string value_in(const std::string& text, std::string_view key, char separator);
// Like value_in(), but reads the file `path`. Returns an empty string if it cannot read the file.
std::string value_of(const std::filesystem::path& path, std::string_view key, char separator);
// Returns a device-tree cell: 32 bits, big-endian.
std::optional<uint32_t> cell_in(const std::filesystem::path& path);

}  // namespace htmtrace

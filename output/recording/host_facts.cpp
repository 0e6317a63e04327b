// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/recording/host_facts.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <fstream>
#include <string_view>
#include <system_error>

#include "core/base/processor.h"

namespace htmtrace {
namespace {

// Returns the first line that starts with `key`, or an empty string.
std::string line_of(const std::filesystem::path& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key)) return line;
  }
  return {};
}

// Returns the number after `separator` in the first line that starts with `key`.
std::optional<uint64_t> number_of(const std::filesystem::path& path, std::string_view key,
                                  char separator) {
  const std::string line = line_of(path, key);
  const size_t at = line.find(separator);
  if (at == std::string::npos) return std::nullopt;
  const size_t digits = line.find_first_not_of(" \t", at + 1);
  if (digits == std::string::npos) return std::nullopt;
  uint64_t value = 0;
  const char* end = line.data() + line.size();
  if (std::from_chars(line.data() + digits, end, value).ec != std::errc{}) return std::nullopt;
  return value;
}

// A device-tree cell: 32 bits, big-endian.
std::optional<uint64_t> cell(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 4> bytes{};
  if (!file.read(bytes.data(), bytes.size())) return std::nullopt;
  uint64_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

}  // namespace

HostFacts read_host_facts(const std::filesystem::path& root) {
  HostFacts facts;
  utsname names{};
  ::uname(&names);
  facts.kernel_release = names.release;
  facts.kernel_version = names.version;
  facts.machine = names.machine;
  facts.page_size_bytes = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  facts.pvr = pvr_in(line_of(root / "proc/cpuinfo", "revision"));
  facts.timebase_hz = number_of(root / "proc/cpuinfo", "timebase", ':');
  facts.partition_id = number_of(root / "proc/powerpc/lparcfg", "partition_id=", '=');
  const std::filesystem::path lparcfg = root / "proc/powerpc/lparcfg";
  std::error_code failure;
  const bool in_partition =
      std::filesystem::status(lparcfg, failure).type() != std::filesystem::file_type::not_found;
  facts.shares_processors =
      in_partition && number_of(lparcfg, "shared_processor_mode=", '=').value_or(1) != 0;
  if (!facts.partition_id) facts.partition_id = cell(root / "proc/device-tree/ibm,partition-no");
  return facts;
}

}  // namespace htmtrace

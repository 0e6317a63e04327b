// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/recording/host_facts.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <charconv>
#include <system_error>

#include "core/base/processor.h"
#include "output/io/machine_file.h"

namespace htmtrace {
namespace {

std::optional<uint64_t> number_of(const std::string& value) {
  uint64_t number = 0;
  const char* const end = value.data() + value.size();
  if (std::from_chars(value.data(), end, number).ec != std::errc{}) return std::nullopt;
  return number;
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
  facts.pvr = pvr_in(value_of(root / "proc/cpuinfo", "revision", ':'));
  facts.timebase_hz = number_of(value_of(root / "proc/cpuinfo", "timebase", ':'));
  const std::filesystem::path lparcfg = root / "proc/powerpc/lparcfg";
  facts.partition_id = number_of(value_of(lparcfg, "partition_id", '='));
  std::error_code failure;
  const bool in_partition =
      std::filesystem::status(lparcfg, failure).type() != std::filesystem::file_type::not_found;
  facts.shares_processors =
      in_partition && number_of(value_of(lparcfg, "shared_processor_mode", '=')).value_or(1) != 0;
  if (!facts.partition_id) facts.partition_id = cell_in(root / "proc/device-tree/ibm,partition-no");
  return facts;
}

}  // namespace htmtrace

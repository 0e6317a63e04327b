// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/recording/host_facts.h"

#include <elf.h>
#include <fmt/core.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

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

// Returns the build ID in ELF notes that have the byte order of this machine. Returns an empty
// string if they have none.
std::string build_id_in(std::string_view notes) {
  constexpr std::string_view kGnu("GNU", sizeof("GNU"));
  const auto padded = [](size_t bytes) { return (bytes + 3) / 4 * 4; };
  Elf64_Nhdr note{};
  while (notes.size() >= sizeof(note)) {
    std::memcpy(&note, notes.data(), sizeof(note));
    notes.remove_prefix(sizeof(note));
    const size_t name_bytes = padded(note.n_namesz);
    if (name_bytes > notes.size() || note.n_descsz > notes.size() - name_bytes) return {};
    if (note.n_type == NT_GNU_BUILD_ID && notes.substr(0, note.n_namesz) == kGnu) {
      return std::string(notes.substr(name_bytes, note.n_descsz));
    }
    notes.remove_prefix(std::min(notes.size(), name_bytes + padded(note.n_descsz)));
  }
  return {};
}

bool is_absent(const MachineFile& file) {
  return file.reason == ENOENT || file.reason == ENOTDIR;
}

}  // namespace

HostFacts read_host_facts(const std::filesystem::path& root) {
  HostFacts facts;
  const auto read = [&](const char* name) {
    MachineFile file = read_machine_file(root / name);
    if (file.reason != 0 && !is_absent(file)) {
      facts.unread.push_back(
          fmt::format("cannot read {}: {}", (root / name).string(), std::strerror(file.reason)));
    }
    return file;
  };
  utsname names{};
  ::uname(&names);
  facts.kernel_release = names.release;
  facts.kernel_version = names.version;
  facts.machine = names.machine;
  facts.kernel_build_id = build_id_in(read("sys/kernel/notes").text);
  facts.page_size_bytes = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::string cpu = read("proc/cpuinfo").text;
  facts.pvr = pvr_in(value_in(cpu, "revision", ':'));
  facts.timebase_hz = number_of(value_in(cpu, "timebase", ':'));
  const MachineFile partition = read("proc/powerpc/lparcfg");
  facts.partition_id = number_of(value_in(partition.text, "partition_id", '='));
  facts.shares_processors =
      !is_absent(partition) &&
      number_of(value_in(partition.text, "shared_processor_mode", '=')).value_or(1) != 0;
  if (!facts.partition_id) facts.partition_id = cell_in(root / "proc/device-tree/ibm,partition-no");
  return facts;
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/capture/switch_source.h"

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "pmu/switch_event.h"

namespace htmtrace {
namespace {

namespace fs = std::filesystem;

// A switch has two records of 40 bytes. The ring holds 6500 records for the 20 ms between two
// reads.
constexpr size_t kSwitchRingBytes = 256 << 10;
constexpr size_t kLeastSwitchRingBytes = 64 << 10;

std::optional<uint32_t> number_of(const fs::path& folder) {
  const std::string name = folder.filename().string();
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  return number;
}

// Calls visit(number, path) for each folder with a number as its name. Tasks may end meanwhile.
template <class Visit>
void for_each_number(const fs::path& folder, Visit visit) {
  std::error_code gone;
  for (fs::directory_iterator at(folder, gone), end; !gone && at != end; at.increment(gone)) {
    if (const auto number = number_of(at->path())) visit(*number, at->path());
  }
}

}  // namespace

SwitchSource::SwitchSource(int cpu) {
  size_t bytes = kSwitchRingBytes;
  event_ = EventFd::open(switch_event_attr(bytes).bytes(), cpu);
  if (!event_) throw explain_switch_open_failure(errno, cpu);
  MapFailure failure;
  while (!(ring_ = PerfRing::map(event_, {.data_bytes = bytes, .aux_bytes = 0}, failure))) {
    bytes /= 2;
    if (!failure.less_may_do() || bytes < kLeastSwitchRingBytes) throw failure.explain();
  }
}

void read_task_names(const std::function<void(DtlTask, std::string_view)>& visit) {
  for_each_number("/proc", [&](uint32_t pid, const fs::path& process) {
    for_each_number(process / "task", [&](uint32_t tid, const fs::path& task) {
      std::string name;
      if (std::getline(std::ifstream(task / "comm"), name)) {
        visit({.pid = pid, .tid = tid}, name);
      }
    });
  });
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cpu_list.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <string>

#include "core/base/error.h"
#include "output/io/machine_file.h"

namespace htmtrace {
namespace {

constexpr int kMostCpus = 1 << 16;  // exceeds the number of CPUs of any kernel

// Removes a number from the front of the text, and returns it.
std::optional<int> take_cpu(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number < 0 || number >= kMostCpus) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

struct OnlineCpus {
  std::vector<int> cpus;
  std::string text;  // the kernel's notation
};

OnlineCpus read_online() {
  constexpr const char* kPath = "/sys/devices/system/cpu/online";
  constexpr const char* kFailed = "cannot find out which CPUs are online";
  const MachineFile file = read_machine_file(kPath);
  if (file.reason != 0) throw Error(kFailed, file.reason).on(std::string("file: ") + kPath);
  const std::string text = file.text.substr(0, file.text.find('\n'));
  const auto cpus = parse_cpu_list(text);
  if (!cpus) throw Error(kFailed).on(std::string("file: ") + kPath);
  return {*cpus, text};
}

}  // namespace

std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
  std::set<int> cpus;
  while (true) {
    const auto first = take_cpu(text);
    if (!first) return std::nullopt;
    auto last = first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      last = take_cpu(text);
    }
    if (!last || *last < *first) return std::nullopt;
    for (int cpu = *first; cpu <= *last; cpu++) cpus.insert(cpu);
    if (text.empty()) return std::vector(cpus.begin(), cpus.end());
    if (!text.starts_with(',')) return std::nullopt;
    text.remove_prefix(1);
  }
}

std::vector<int> online_cpus() {
  return read_online().cpus;
}

std::string online_cpu_list() {
  return read_online().text;
}

void check_online(const std::vector<int>& cpus) {
  const OnlineCpus online = read_online();
  for (const int cpu : cpus) {
    if (std::ranges::binary_search(online.cpus, cpu)) continue;
    throw Error(fmt::format("cannot trace CPU {}: it is offline or does not exist", cpu))
        .hint(fmt::format("choose online CPUs: --cpu {}", online.text));
  }
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/locate/cpu_choice.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <system_error>
#include <tuple>

#include "cli/cpu_list.h"
#include "output/symbols/proc_text.h"

namespace htmtrace {
namespace {

namespace fs = std::filesystem;

// proc(5), /proc/pid/stat: field numbers.
constexpr int kStatState = 3;
constexpr int kStatProcessor = 39;

int cpu_number(const std::string& text) {
  int number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Calls `visit` for each folder of `parent` whose name is a number.
template <class Visit>
void for_each_id(const fs::path& parent, Visit visit) {
  std::error_code failure;
  for (fs::directory_iterator entry(parent, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    const std::string name = entry->path().filename().string();
    if (name.find_first_not_of("0123456789") == std::string::npos) visit(entry->path(), name);
  }
}

// The number of tasks that run or wait on each CPU.
std::map<int, int> busy_tasks(const fs::path& proc) {
  std::map<int, int> tasks;
  const std::string self = std::to_string(::getpid());
  for_each_id(proc, [&](const fs::path& process, const std::string& id) {
    if (id == self) return;
    for_each_id(process / "task", [&](const fs::path& task, const std::string&) {
      const std::string stat = proc_text(task / "stat");
      if (stat_field(stat, kStatState) == "R")
        tasks[cpu_number(stat_field(stat, kStatProcessor))]++;
    });
  });
  return tasks;
}

// The CPUs of the core of `cpu`, at least `cpu` itself.
std::vector<int> siblings_of(int cpu, const fs::path& root) {
  const std::string list = one_line(proc_text(
      root / fmt::format("sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu)));
  return parse_cpu_list(list).value_or(std::vector<int>{cpu});
}

}  // namespace

std::vector<int> least_busy_first(std::vector<int> cpus, const fs::path& root) {
  std::map<int, int> tasks = busy_tasks(root / "proc");
  std::map<int, int> load;
  for (const int cpu : cpus) {
    for (const int sibling : siblings_of(cpu, root)) load[cpu] += tasks[sibling];
  }
  std::ranges::stable_sort(cpus, {}, [&](int cpu) { return std::tuple(load[cpu], cpu == 0); });
  return cpus;
}

}  // namespace htmtrace

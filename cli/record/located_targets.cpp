// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/record/located_targets.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/affinity.h"
#include "cli/capture/htm_source.h"
#include "cli/cpu_list.h"
#include "cli/locate/finder.h"
#include "cli/messages.h"
#include "core/base/counted.h"
#include "core/base/error.h"

namespace htmtrace {
namespace {

// Explains the choice: other CPUs may be less busy than the chosen CPU.
std::vector<CpuLocation> choose_location(bool quiet) {
  Locations found = locate_any(carrier_candidates());
  if (!quiet) report_skipped(found);
  for (const CpuLocation& location : found.cpus) {
    if (!location.core && !quiet) print_note(std::string("not chosen: ") + location.error->what());
  }
  return {std::move(found.cpus.back())};
}

std::vector<CpuLocation> find_locations(const std::vector<int>& cpus, bool quiet) {
  if (cpus.empty()) return choose_location(quiet);
  check_online(cpus);
  Locations found = locate_cpus({.cpus = cpus});
  if (!quiet) report_skipped(found);
  for (const CpuLocation& location : found.cpus) {
    if (!location.core) throw *location.error;
  }
  return std::move(found.cpus);
}

void add_targets(const TraceTarget& core, RecordOptions& options) {
  for (const HtmType type : options.located_types) {
    TraceTarget target = core;
    target.type = type;
    if (type == HtmType::kNest) target.core = 0;
    auto& targets = options.source.targets;
    if (std::ranges::find(targets, target) == targets.end()) targets.push_back(target);
  }
}

Error too_few_program_cpus(const RecordOptions& options) {
  const char* const option = options.bind               ? "--bind"
                             : options.source.resume_on ? "--resume-on"
                                                        : "--pause-on";
  return Error(fmt::format("cannot trace {} targets with {}: only {} can carry them",
                           options.source.targets.size(), option,
                           options.located_cpus->size() == 1
                               ? fmt::format("cpu {}", options.located_cpus->front())
                               : counted(options.located_cpus->size(), "CPU")))
      .on(fmt::format(
          "reason: with {}, the CPUs of the program are the carrier CPUs, and a CPU can "
          "carry only one target",
          option))
      .hint("trace one type: --type core")
      .hint("or locate as many CPUs as there are targets: --cpu-target LIST");
}

// Only events on the carrier CPU pause and resume a trace, so with these options the program's CPU
// must be the carrier CPU. Otherwise other CPUs are preferred, because the trace is drained there.
void choose_carriers(RecordOptions& options) {
  SourceWish& source = options.source;
  if (!source.cpus.empty()) return;
  std::vector<int>& located = *options.located_cpus;
  if (options.bind || source.resume_on || source.pause_on) {
    if (source.targets.size() > located.size()) throw too_few_program_cpus(options);
    source.cpus = located;
    return;
  }
  source.cpus = carrier_candidates();
  std::stable_partition(source.cpus.begin(), source.cpus.end(),
                        [&](int cpu) { return std::ranges::find(located, cpu) == located.end(); });
}

// Moves htmtrace to other CPUs: the trace holds everything that runs on the core. If there is no
// other CPU, or the kernel refuses the move, htmtrace stays.
void leave_cpus(const std::vector<int>& located) {
  std::vector<int> others = carrier_candidates();
  std::erase_if(others, [&](int cpu) { return std::ranges::find(located, cpu) != located.end(); });
  if (!others.empty()) bind_to_cpus(0, others);
}

}  // namespace

void locate_targets(RecordOptions& options, Signals& signals) {
  const Signals::Impatient impatient(signals);
  const bool quiet = options.script.quiet;
  options.locations = find_locations(*options.located_cpus, quiet);
  options.located_cpus->clear();
  for (const CpuLocation& location : options.locations) {
    options.located_cpus->push_back(location.cpu);
    add_targets(*location.core, options);
    if (quiet) continue;
    print_note(fmt::format("cpu {} is on {}{}", location.cpu, describe(*location.core),
                           location.remembered ? " (remembered)" : ""));
  }
  warn_of_shared_processors();
  options.program_cpus = *options.located_cpus;
  choose_carriers(options);
  leave_cpus(*options.located_cpus);
}

bool warn_of_moves(const std::vector<CpuLocation>& locations) {
  bool moved = false;
  for (const CpuLocation& location : locations) {
    if (still_holds(location)) continue;
    moved = true;
    print_warning(fmt::format("cannot prove that cpu {} stayed on {} during the recording: it went "
                              "offline, or the partition migrated",
                              location.cpu, describe(*location.core)),
                  "keep the CPU online, and record again");
  }
  return moved;
}

}  // namespace htmtrace

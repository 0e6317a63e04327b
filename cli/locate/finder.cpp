// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/locate/finder.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>

#include "cli/locate/cpu_choice.h"
#include "cli/locate/location_memory.h"
#include "cli/messages.h"
#include "core/base/counted.h"
#include "core/memory_map/processors.h"
#include "output/recording/host_facts.h"
#include "pmu/description.h"
#include "pmu/htm_errors.h"
#include "pmu/htm_event.h"
#include "pmu/htm_info.h"

namespace htmtrace {
namespace {

constexpr size_t kMostTriedCpus = 8;
constexpr const char* kNameCandidates = "name the candidates with --chip LIST --core LIST";
constexpr const char* kDisturbed =
    "reason: during the search, it went offline, Linux moved its marker to another CPU, or the "
    "partition migrated";
constexpr const char* kKeepOnline = "keep the CPU online, then try again";

// Other drivers do not leave the macros of other users alone, so htmtrace refuses them.
PmuDescription own_pmu() {
  if (!PmuDescription::exists(kPmuRoot, kHtmPmu)) throw missing_htm_pmu(kPmuRoot);
  if (is_own_driver(std::filesystem::path(kPmuRoot) / kHtmPmu)) {
    return PmuDescription::read(kPmuRoot, kHtmPmu);
  }
  throw Error("cannot locate a CPU with this kernel's htm driver")
      .on("reason: only htmtrace's driver leaves the macros of other users alone")
      .hint("load htmtrace's driver (htmtrace doctor states how)")
      .hint("or name the target: --chip N --core N");
}

std::vector<TraceTarget> listed_cores() {
  const HtmAnswer answer = read_htm_answer(std::filesystem::path(kPmuRoot) / kHtmPmu / "topology");
  if (!answer.readable()) {
    throw Error("cannot read the hypervisor's list of processors", answer.error_number)
        .hint(kNameCandidates);
  }
  const HtmBlocks blocks = parse_htm_blocks(answer.bytes, kProcessorEntryBytes);
  auto cores = infer_processors(blocks.entries);
  if (cores) return *std::move(cores);
  throw Error("cannot infer the cores from the hypervisor's list of processors")
      .on(fmt::format("reason: its layout is not public, and {} do not have the inferred layout",
                      counted(blocks.entries.size(), "entry")))
      .hint(kNameCandidates);
}

Error not_located(const CpuSighting& sighting, const MarkerQuest& quest) {
  if (sighting.error) return *sighting.error;
  Error error(fmt::format("cannot locate cpu {}", sighting.cpu));
  if (sighting.cores.size() > 1) {
    std::string list;
    for (const TraceTarget& core : sighting.cores) {
      list += (list.empty() ? "" : ", ") + describe(core);
    }
    return std::move(error)
        .on("reason: the hypervisor moved it during the trace")
        .on("cores: " + list)
        .hint("use dedicated processors, or try again");
  }
  if (sighting.disturbed) return std::move(error).on(kDisturbed).hint(kKeepOnline);
  error = std::move(error).on(fmt::format("reason: its marker is in none of the traces of {}",
                                          counted(quest.traced(), "core")));
  if (quest.skipped().empty()) return std::move(error).hint(kNameCandidates);
  return std::move(error).hint("end the other users of the skipped cores, then try again");
}

void measure_cores(const std::vector<CpuLocation*>& sought, const std::vector<TraceTarget>& named,
                   Locations& found) {
  const PmuDescription pmu = own_pmu();
  std::vector<int> cpus;
  cpus.reserve(sought.size());
  for (const CpuLocation* location : sought) cpus.push_back(location->cpu);
  MarkerQuest quest(pmu, cpus, named.empty() ? listed_cores() : named);
  quest.run();
  StampedCores cores;
  for (size_t i = 0; i < sought.size(); i++) {
    CpuLocation& location = *sought[i];
    const CpuSighting& sighting = quest.sightings()[i];
    if (sighting.found()) {
      location.core = sighting.cores.front();
      location.stamp = sighting.stamp;
      cores[location.cpu] = {*location.core, location.stamp};
    } else {
      location.error = not_located(sighting, quest);
    }
  }
  found.skipped = quest.skipped();
  try {
    remember_cores(cores);
  } catch (const Error& error) {
    print_warning(error.what());
  }
}

// The search for other CPUs may have taken seconds since a core was found.
void withdraw_old_answers(Locations& found) {
  for (CpuLocation& location : found.cpus) {
    if (!location.core || still_holds(location)) continue;
    location.core.reset();
    location.error =
        Error(fmt::format("cannot locate cpu {}", location.cpu)).on(kDisturbed).hint(kKeepOnline);
  }
}

}  // namespace

Locations locate_cpus(const LocateWish& wish) {
  const bool may_remember = !wish.fresh && wish.candidates.empty();
  const StampedCores remembered = may_remember ? remembered_cores() : StampedCores{};
  Locations found;
  found.cpus.reserve(wish.cpus.size());
  std::vector<CpuLocation*> sought;
  for (const int cpu : wish.cpus) {
    CpuLocation& location = found.cpus.emplace_back();
    location.cpu = cpu;
    if (const auto known = remembered.find(cpu); known != remembered.end()) {
      location.core = known->second.core;
      location.stamp = known->second.stamp;
      location.remembered = true;
    } else {
      sought.push_back(&location);
    }
  }
  if (!sought.empty()) measure_cores(sought, wish.candidates, found);
  withdraw_old_answers(found);
  return found;
}

// The core of one CPU is enough. If it cannot be found, for example because the core is in use,
// htmtrace looks for the cores of several further CPUs together.
Locations locate_any(const std::vector<int>& cpus) {
  const std::vector<int> sorted = least_busy_first(cpus);
  Locations found = locate_cpus({.cpus = {sorted.front()}});
  const auto located = [](const CpuLocation& location) { return location.core.has_value(); };
  if (!located(found.cpus.front()) && sorted.size() > 1) {
    const auto last = static_cast<std::ptrdiff_t>(std::min(sorted.size(), kMostTriedCpus));
    Locations further = locate_cpus({.cpus = {sorted.begin() + 1, sorted.begin() + last}});
    std::ranges::move(further.cpus, std::back_inserter(found.cpus));
    found.skipped = std::move(further.skipped);
  }
  const auto chosen = std::ranges::find_if(found.cpus, located);
  if (chosen == found.cpus.end()) throw *found.cpus.front().error;
  found.cpus.erase(chosen + 1, found.cpus.end());
  return found;
}

bool still_holds(const CpuLocation& location) {
  return is_current(location.stamp, location.cpu);
}

void report_skipped(const Locations& found) {
  for (const SkippedTarget& skipped : found.skipped) {
    print_note(fmt::format("skipped {}: {}", describe(skipped.target), skipped.reason));
  }
}

void warn_of_shared_processors() {
  if (!read_host_facts().shares_processors) return;
  print_warning(
      "this partition shares its processors: the hypervisor may move a CPU to another core at any "
      "time",
      "use dedicated processors to keep each CPU on its core");
}

}  // namespace htmtrace

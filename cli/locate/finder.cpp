// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/locate/finder.h"

#include <fmt/core.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <memory>
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

uint32_t random_bits() {
  uint32_t bits = 0;
  if (::getrandom(&bits, sizeof(bits), 0) != sizeof(bits)) {
    throw Error("cannot make a random marker", errno);
  }
  return bits;
}

// Other drivers do not leave the macros of other users alone, so htmtrace refuses them.
PmuDescription own_pmu() {
  if (!PmuDescription::exists(kPmuRoot, kHtmPmu)) throw missing_htm_pmu(kPmuRoot);
  if (is_own_driver(std::filesystem::path(kPmuRoot) / kHtmPmu)) {
    return PmuDescription::read(kPmuRoot, kHtmPmu);
  }
  throw Error("cannot locate a CPU with this kernel's htm driver")
      .on("reason: only htmtrace's driver leaves the macros of other users alone")
      .hint("load htmtrace's driver (kmod/README.md)")
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

Error not_located(int cpu, const MarkerQuest& quest, const std::vector<TraceTarget>& cores) {
  Error error(fmt::format("cannot locate cpu {}", cpu));
  if (cores.size() > 1) {
    std::string list;
    for (const TraceTarget& core : cores) list += (list.empty() ? "" : ", ") + describe(core);
    return std::move(error)
        .on("reason: the hypervisor moved it during the trace")
        .on("cores: " + list)
        .hint("use dedicated processors, or try again");
  }
  error = std::move(error).on(fmt::format("reason: its marker is in none of the traces of {}",
                                          counted(quest.traced(), "core")));
  if (quest.skipped().empty()) return std::move(error).hint(kNameCandidates);
  return std::move(error).hint("end the other users of the skipped cores, then try again");
}

// Prepares a marker for each CPU. Removes a CPU on which no marker can run, and states the error.
MarkerQuest::Loops prepare_markers(const std::vector<Marker>& markers,
                                   std::vector<CpuLocation*>& sought) {
  MarkerQuest::Loops loops;
  std::erase_if(sought, [&](CpuLocation* location) {
    try {
      loops.push_back(std::make_unique<MarkerLoop>(location->cpu, markers[loops.size()]));
      loops.back()->pause();
      return false;
    } catch (const Error& error) {
      location->error = error.about(fmt::format("cannot locate cpu {}", location->cpu));
      return true;
    }
  });
  return loops;
}

void measure_cores(std::vector<CpuLocation*> sought, const std::vector<TraceTarget>& named,
                   Locations& found) {
  const PmuDescription pmu = own_pmu();
  const std::vector<TraceTarget> candidates = named.empty() ? listed_cores() : named;
  std::vector<Marker> markers = make_markers(sought.size(), random_bits);
  const MarkerQuest::Loops loops = prepare_markers(markers, sought);
  markers.resize(loops.size());
  if (loops.empty()) return;
  MarkerQuest quest(pmu, markers, loops, candidates);
  quest.run();
  CpuCores cores;
  for (size_t i = 0; i < sought.size(); i++) {
    CpuLocation& location = *sought[i];
    if (quest.cores_of(i).size() == 1) {
      location.core = cores[location.cpu] = quest.cores_of(i).front();
    } else {
      location.error = not_located(location.cpu, quest, quest.cores_of(i));
    }
  }
  found.skipped = quest.skipped();
  try {
    remember_cores(cores);
  } catch (const Error& error) {
    print_warning(error.what());
  }
}

}  // namespace

Locations locate_cpus(const LocateWish& wish) {
  const bool may_remember = !wish.fresh && wish.candidates.empty();
  const CpuCores remembered = may_remember ? remembered_cores() : CpuCores{};
  Locations found;
  found.cpus.reserve(wish.cpus.size());
  std::vector<CpuLocation*> sought;
  for (const int cpu : wish.cpus) {
    CpuLocation& location = found.cpus.emplace_back();
    location.cpu = cpu;
    if (const auto known = remembered.find(cpu); known != remembered.end()) {
      location.core = known->second;
      location.remembered = true;
    } else {
      sought.push_back(&location);
    }
  }
  if (!sought.empty()) measure_cores(std::move(sought), wish.candidates, found);
  return found;
}

// The core of one CPU is enough. If it cannot be found, for example because the core is in use,
// htmtrace looks for the cores of several further CPUs together.
CpuLocation locate_any(const std::vector<int>& cpus) {
  const std::vector<int> sorted = least_busy_first(cpus);
  Locations found = locate_cpus({.cpus = {sorted.front()}});
  if (!found.cpus.front().core && sorted.size() > 1) {
    const auto last = static_cast<std::ptrdiff_t>(std::min(sorted.size(), kMostTriedCpus));
    found = locate_cpus({.cpus = {sorted.begin() + 1, sorted.begin() + last}});
  }
  const auto chosen = std::ranges::find_if(
      found.cpus, [](const CpuLocation& location) { return location.core.has_value(); });
  if (chosen == found.cpus.end()) throw *found.cpus.front().error;
  return *chosen;
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

// SPDX-License-Identifier: GPL-2.0-or-later
// htmtrace list: prints the PMUs, the carrier CPUs, and the driver's lists of the machine.
// The cores in the list of processors are inferred. Other undocumented fields are printed as
// hexadecimal bytes.
#include <fmt/core.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/capture/htm_source.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/locate/core_json.h"
#include "cli/locate/location_memory.h"
#include "core/base/counted.h"
#include "core/base/plain_text.h"
#include "core/base/processor.h"
#include "core/base/size_text.h"
#include "core/memory_map/processors.h"
#include "output/io/json_writer.h"
#include "output/io/text_output.h"
#include "output/recording/host_facts.h"
#include "pmu/description.h"
#include "pmu/dtl_event.h"
#include "pmu/htm_event.h"
#include "pmu/htm_info.h"

namespace htmtrace {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTopology = "topology";

struct ListOptions {
  bool json = false;
  fs::path root = "/";
};

// One of the driver's lists, or the reason for its absence.
struct Listed {
  std::string name;
  std::string what;
  std::string problem;
  HtmAnswer answer;
  HtmBlocks blocks;
  std::optional<std::vector<TraceTarget>> inferred;  // the core of each entry
};

struct Inventory {
  std::optional<uint32_t> pvr;  // empty on other machines than POWER
  std::optional<PmuDescription> pmu;
  bool own_driver = false;
  std::vector<Listed> lists;
  std::vector<int> carriers;
  StampedCores located;
  std::optional<PmuDescription> dispatch_log;
  bool own_dispatch_log = false;
};

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return text;
}

Listed read_list(const fs::path& folder, const std::string& name, const std::string& what,
                 size_t entry_bytes) {
  Listed list{name, what, {}, read_htm_answer(folder / name), {}, {}};
  if (list.answer.readable()) {
    list.blocks = parse_htm_blocks(list.answer.bytes, entry_bytes);
    if (list.blocks.rest_bytes != 0) list.problem = "the list is cut short or damaged";
  } else if (list.answer.error_number == EACCES) {
    list.problem = "only root may read it";
  } else {
    list.problem = std::strerror(list.answer.error_number);
  }
  return list;
}

Inventory take_inventory(const fs::path& root) {
  const fs::path pmus = root / fs::path(kPmuRoot).relative_path();
  Inventory found;
  found.pvr = read_host_facts(root).pvr;
  found.carriers = carrier_candidates();
  if (PmuDescription::exists(pmus, kDtlPmu)) {
    found.dispatch_log = PmuDescription::read(pmus, kDtlPmu);
    found.own_dispatch_log = is_own_dtl_driver(pmus);
  }
  if (!PmuDescription::exists(pmus, kHtmPmu)) return found;
  found.pmu = PmuDescription::read(pmus, kHtmPmu);
  const fs::path folder = pmus / kHtmPmu;
  found.own_driver = is_own_driver(folder);
  if (!found.own_driver) return found;
  for (const HtmType type : {HtmType::kCore, HtmType::kNest, HtmType::kLlat}) {
    found.lists.push_back(read_list(folder, status_file(type),
                                    fmt::format("state of the {} macros", htm_type_name(type)),
                                    status_entry_bytes(type)));
  }
  found.lists.push_back(
      read_list(folder, kTopology, "the machine's processors", kProcessorEntryBytes));
  Listed& topology = found.lists.back();
  topology.inferred = infer_processors(topology.blocks.entries);
  if (root == "/") found.located = remembered_cores();
  return found;
}

// " cpu 0 (located)" for each CPU that htmtrace locate has found on `core`.
std::string located_on(const TraceTarget& core, const StampedCores& located) {
  std::string text;
  for (const auto& [cpu, known] : located) {
    if (known.core == core) text += fmt::format("  cpu {} (located)", cpu);
  }
  return text;
}

void put_entries(const Listed& list, const StampedCores& located, std::string& text) {
  for (size_t i = 0; i < list.blocks.entries.size(); i++) {
    const auto entry = list.blocks.entries[i];
    if (!list.inferred) {
      text += fmt::format("  {}\n", hex(entry));
      continue;
    }
    const TraceTarget& core = (*list.inferred)[i];
    text += fmt::format("  node {} chip {:<2} core {:<3} (inferred)  {}{}\n", core.node, core.chip,
                        core.core, hex(entry), located_on(core, located));
  }
}

// A trace is proof, and an inference is not.
void put_contradictions(const std::vector<TraceTarget>& inferred, const StampedCores& located,
                        std::string& text) {
  for (const auto& [cpu, known] : located) {
    const TraceTarget& core = known.core;
    if (std::ranges::find(inferred, core) != inferred.end()) continue;
    text += fmt::format("  the inference is wrong: cpu {} is on {}, which is not in the list\n",
                        cpu, describe(core));
  }
}

void put_list(const Listed& list, const StampedCores& located, std::string& text) {
  text += fmt::format("\n{}: {}", list.name, list.what);
  if (list.answer.readable()) text += ", " + counted(list.blocks.entries.size(), "entry");
  if (list.blocks.memory_bytes && list.name.starts_with("status")) {
    text += fmt::format(", {} of trace memory each", rounded_size(*list.blocks.memory_bytes));
  }
  text += '\n';
  if (!list.problem.empty()) text += fmt::format("  {}\n", list.problem);
  put_entries(list, located, text);
  if (list.inferred) put_contradictions(*list.inferred, located, text);
}

std::string to_text(const Inventory& found) {
  std::string text;
  if (found.pvr) text += fmt::format("processor {}\n", describe_processor(*found.pvr));
  if (!found.pmu) {
    text += "htm PMU   none: the driver is not loaded (see htmtrace doctor)\n";
  } else {
    text += fmt::format(
        "htm PMU   type {}, driver: {}\n", found.pmu->type(),
        found.own_driver ? "htmtrace's" : "another driver, without information on the machine");
    for (const auto& [event, terms] : found.pmu->events())
      text +=
          fmt::format("event     {:<16} {}\n", without_controls(event), without_controls(terms));
    for (const auto& [term, place] : found.pmu->terms())
      text += fmt::format("term      {:<16} {}\n", without_controls(term), without_controls(place));
  }
  text += "carriers ";
  for (const int cpu : found.carriers) text += fmt::format(" {}", cpu);
  text += "   (CPUs that can carry the event of a target)\n";
  if (found.dispatch_log) {
    text += fmt::format("vpa_dtl   type {}, driver: {}\n", found.dispatch_log->type(),
                        describe_dtl_driver(found.own_dispatch_log));
  } else {
    text += "vpa_dtl   none: htmtrace dtl cannot record here\n";
  }
  for (const Listed& list : found.lists) put_list(list, found.located, text);
  if (found.lists.empty()) return text;
  text +=
      "\nThe hexadecimal digits are the hypervisor's entries; their fields are not documented.\n"
      "Inferred: htmtrace's reading of an entry. Located: found by htmtrace locate.\n";
  return text;
}

void write_pmu(JsonWriter& json, const Inventory& found) {
  if (!found.pmu) return json.null("pmu");
  json.begin_object("pmu");
  json.text("name", found.pmu->name());
  json.number("type", uint64_t{found.pmu->type()});
  json.boolean("own_driver", found.own_driver);
  json.begin_object("events");
  for (const auto& [event, terms] : found.pmu->events()) json.text(event, terms);
  json.end_object();
  json.begin_object("terms");
  for (const auto& [term, place] : found.pmu->terms()) json.text(term, place);
  json.end_object();
  json.end_object();
}

void write_dispatch_log(JsonWriter& json, const Inventory& found) {
  if (!found.dispatch_log) return json.null("dispatch_log");
  json.begin_object("dispatch_log");
  json.text("name", found.dispatch_log->name());
  json.number("type", uint64_t{found.dispatch_log->type()});
  json.boolean("own_driver", found.own_dispatch_log);
  json.end_object();
}

void write_inferred(JsonWriter& json, const std::optional<std::vector<TraceTarget>>& inferred) {
  if (!inferred) return json.null("inferred");
  json.begin_array("inferred");
  for (const TraceTarget& core : *inferred) {
    json.begin_object();
    write_core_indices(json, core);
    json.end_object();
  }
  json.end_array();
}

std::string to_json(const Inventory& found) {
  JsonWriter json;
  json.begin_object();
  json.number("pvr", found.pvr);
  write_pmu(json, found);
  write_dispatch_log(json, found);
  json.begin_array("carrier_cpus");
  for (const int cpu : found.carriers) json.number({}, int64_t{cpu});
  json.end_array();
  json.begin_array("located_cpus");
  for (const auto& [cpu, known] : found.located) {
    json.begin_object();
    json.number("cpu", int64_t{cpu});
    write_core_indices(json, known.core);
    json.end_object();
  }
  json.end_array();
  json.begin_object("lists");
  for (const Listed& list : found.lists) {
    json.begin_object(list.name);
    if (list.problem.empty())
      json.null("problem");
    else
      json.text("problem", list.problem);
    if (list.name.starts_with("status")) json.number("memory_bytes", list.blocks.memory_bytes);
    json.begin_array("entries");
    for (const auto& entry : list.blocks.entries) json.text({}, hex(entry));
    json.end_array();
    if (list.name == kTopology) write_inferred(json, list.inferred);
    json.end_object();
  }
  json.end_object();
  json.end_object();
  return json.take();
}

int list(const ListOptions& options) {
  const Inventory found = take_inventory(options.root);
  TextOutput output = TextOutput::standard_output();
  output.put(options.json ? to_json(found) : to_text(found));
  output.finish();
  return kExitDone;
}

}  // namespace

Action declare_list(CLI::App& app) {
  const auto options = std::make_shared<ListOptions>();
  app.option_defaults()->group(kOutputGroup);
  app.add_flag("--json", options->json, "Print JSON");
  app.footer(
      "Example:\n"
      "  htmtrace list");
  // Replaces "/", so that tests can imitate a machine with files.
  app.add_option("--root", options->root)->group("");
  return [options] { return list(*options); };
}

}  // namespace htmtrace

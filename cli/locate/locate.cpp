// SPDX-License-Identifier: GPL-2.0-or-later
// htmtrace locate: prints the core of each CPU.
#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/capture/htm_source.h"
#include "cli/capture/target_list.h"
#include "cli/capture/target_options.h"
#include "cli/commands.h"
#include "cli/cpu_list.h"
#include "cli/help.h"
#include "cli/locate/core_json.h"
#include "cli/locate/finder.h"
#include "cli/messages.h"
#include "output/io/json_writer.h"
#include "output/io/text_output.h"

namespace htmtrace {
namespace {

struct LocateOptions {
  LocateWish wish;
  TargetWords candidates;
  bool json = false;
};

std::string text_of(const Locations& found) {
  std::string text;
  for (const CpuLocation& location : found.cpus) {
    if (!location.core) continue;
    text += fmt::format("cpu {:<5} {}{}\n", location.cpu, describe(*location.core),
                        location.remembered ? "  (remembered)" : "");
  }
  return text;
}

std::string json_of(const Locations& found) {
  JsonWriter json;
  json.begin_object();
  json.begin_array("cpus");
  for (const CpuLocation& location : found.cpus) {
    json.begin_object();
    json.number("cpu", int64_t{location.cpu});
    json.boolean("located", location.core.has_value());
    if (location.core) {
      write_core_indices(json, *location.core);
      json.boolean("remembered", location.remembered);
    }
    json.end_object();
  }
  json.end_array();
  json.begin_array("skipped");
  for (const SkippedTarget& skipped : found.skipped) {
    json.begin_object();
    write_core_indices(json, skipped.target);
    json.text("reason", skipped.reason);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.take();
}

int locate(const LocateOptions& options) {
  LocateWish wish = options.wish;
  if (wish.cpus.empty()) wish.cpus = carrier_candidates();
  check_online(wish.cpus);
  const Locations found = locate_cpus(wish);
  TextOutput output = TextOutput::standard_output();
  output.put(options.json ? json_of(found) : text_of(found));
  output.finish();
  report_skipped(found);
  bool all = true;
  for (const CpuLocation& location : found.cpus) {
    if (location.core) continue;
    all = false;
    print_error(*location.error);
  }
  if (!all) return kExitFailed;
  warn_of_shared_processors();
  return kExitDone;
}

}  // namespace

Action declare_locate(CLI::App& app) {
  const auto options = std::make_shared<LocateOptions>();
  app.option_defaults()->group(kCommonGroup);
  app.add_option_function<std::string>(
         "--cpu",
         [options](const std::string& text) { options->wish.cpus = cpus_of_option("--cpu", text); },
         "CPUs to locate, such as 3 or 0-7 [all]")
      ->type_name("LIST");
  app.add_flag("--fresh", options->wish.fresh, "Measure again; ignore remembered answers");
  app.add_flag("--json", options->json, "Print JSON");
  declare_indices(app, options->candidates);
  app.footer(
      "Example:\n"
      "  htmtrace locate --cpu 3");
  app.parse_complete_callback([options] {
    if (has_targets(options->candidates)) {
      options->wish.candidates = expand_targets(options->candidates);
    }
  });
  return [options] { return locate(*options); };
}

}  // namespace htmtrace

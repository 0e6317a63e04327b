// SPDX-License-Identifier: GPL-2.0-or-later
// htmtrace doctor: reports in advance why a recording would fail. It configures and releases the
// named targets, and changes nothing else.
#include <fmt/core.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/capture/htm_source.h"
#include "cli/capture/target_options.h"
#include "cli/commands.h"
#include "cli/doctor/htm.h"
#include "cli/doctor/signature.h"
#include "cli/doctor/system.h"
#include "cli/doctor/try.h"
#include "cli/help.h"
#include "cli/not_empty.h"
#include "core/base/counted.h"
#include "core/base/plain_text.h"
#include "output/io/json_writer.h"
#include "output/io/text_output.h"

namespace htmtrace {
namespace {

using Verdict = Finding::Verdict;

struct DoctorOptions {
  TargetWords words;
  std::vector<TraceTarget> targets;
  std::filesystem::path folder = ".";
  std::filesystem::path root = "/";
  bool json = false;
  bool no_try = false;
};

const char* name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kGood:
      return "ok";
    case Verdict::kNotice:
      return "notice";
    case Verdict::kUnknown:
      return "unknown";
    case Verdict::kBad:
      return "PROBLEM";
  }
  return "unknown";
}

bool is_bad(const Finding& finding) {
  return finding.verdict == Verdict::kBad;
}

// Trying a target requires that the event can be opened, and that the driver configures a macro
// when its event is opened. `first` holds the findings about opening the event.
std::vector<Finding> check_targets(const DoctorOptions& options,
                                   const std::vector<Finding>& first) {
  if (options.targets.empty()) return {};
  if (options.no_try) return {untried_target("--no-try")};
  if (std::ranges::any_of(first, is_bad)) {
    return {untried_target("the problems above prevent that")};
  }
  if (!has_own_driver(options.root)) {
    return {untried_target("only htmtrace's driver configures a target without tracing it")};
  }
  if (options.root != "/") return {untried_target("--root does not show this machine")};
  return try_targets(options.targets);
}

std::vector<Finding> examine(const DoctorOptions& options) {
  utsname names{};
  ::uname(&names);
  const std::filesystem::path& root = options.root;
  const Privileges own = own_privileges(root);
  const bool loaded = driver_is_loaded(root);
  const auto module = loaded ? std::nullopt : find_module(root, names.release);
  const size_t count = std::max<size_t>(1, options.targets.size());
  const bool core = std::ranges::any_of(
      options.targets, [](const TraceTarget& target) { return target.type == HtmType::kCore; });

  const Finding machine = check_machine(root);
  Finding signature = check_signature(root, names.release, module, loaded);
  Finding driver =
      check_driver(root, names.release, module.has_value(), signature.verdict == Verdict::kGood);
  // The driver needs a suitable machine, and then a signature that the kernel accepts.
  if (is_bad(machine)) signature.advice.clear();
  if (is_bad(machine) || is_bad(signature)) driver.advice.clear();
  std::vector<Finding> findings = {machine, driver, signature, check_lockdown(root),
                                   check_permission(root, own)};
  const std::vector<Finding> for_opening = findings;
  if (!is_bad(machine)) findings.push_back(check_formats(root));
  uint64_t bytes = 0;
  const std::vector<TraceTarget> asked =
      options.targets.empty() ? std::vector<TraceTarget>{TraceTarget{}} : options.targets;
  for (Finding& finding : check_trace_memory(root, asked, bytes)) {
    findings.push_back(std::move(finding));
  }
  findings.push_back(check_carriers(count, carrier_candidates().size()));
  findings.push_back(check_threads(root, core || options.targets.empty()));
  findings.push_back(check_memory_lock(root, own, count, usual_ring_bytes()));
  findings.push_back(check_pages());
  findings.push_back(check_disk(options.folder, bytes));
  for (Finding& finding : check_folder(options.folder, options.targets)) {
    findings.push_back(std::move(finding));
  }
  findings.push_back(check_tracefs(root));
  findings.push_back(check_htmdump(root));
  findings.push_back(check_dispatch_log(root));
  for (Finding& finding : check_targets(options, for_opening)) {
    findings.push_back(std::move(finding));
  }
  return findings;
}

// Returns the first advice about the first problem, or else about the first unknown state or
// notice. Without any advice, the next step is the recording.
std::string next_step(const std::vector<Finding>& findings,
                      const std::vector<TraceTarget>& targets) {
  for (const Verdict verdict : {Verdict::kBad, Verdict::kUnknown, Verdict::kNotice}) {
    for (const Finding& finding : findings) {
      if (finding.verdict == verdict && !finding.advice.empty()) return finding.advice.front();
    }
  }
  std::string command = "htmtrace record";
  for (const TraceTarget& target : targets) command += " --target " + describe(target);
  return command + " -o DIR -- COMMAND   (DIR: a new folder)";
}

auto problems_of(const std::vector<Finding>& findings) {
  return std::ranges::count(findings, Verdict::kBad, &Finding::verdict);
}

bool any_tried(const std::vector<Finding>& findings) {
  return std::ranges::any_of(findings, [](const Finding& finding) {
    return is_target_finding(finding) && finding.verdict != Verdict::kUnknown;
  });
}

// Findings quote files of the machine and of devices, and file names.
std::string to_text(const std::vector<Finding>& findings, const std::string& next) {
  std::string text;
  for (const Finding& finding : findings) {
    text += fmt::format("{:<8} {:<13} {}\n", name(finding.verdict), finding.subject,
                        without_controls(finding.what));
    if (!finding.why.empty()) {
      text += fmt::format("{:22} why: {}\n", "", without_controls(finding.why));
    }
    for (const std::string& advice : finding.advice)
      text += fmt::format("{:22} do: {}\n", "", without_controls(advice));
  }
  const auto problems = problems_of(findings);
  // Only a recording starts the trace, so doctor cannot promise that it works.
  const char* const tried = any_tried(findings) ? "no trace was started" : "no target was tried";
  text += problems == 0 ? fmt::format("found no problem; {}\n", tried)
                        : fmt::format("{}: a recording would fail\n", counted(problems, "problem"));
  return text + "next: " + without_controls(next) + "\n";
}

std::string to_json(const std::vector<Finding>& findings, const std::string& next) {
  JsonWriter json;
  json.begin_object();
  json.begin_array("findings");
  for (const Finding& finding : findings) {
    json.begin_object();
    json.text("subject", finding.subject);
    json.text("verdict", finding.verdict == Verdict::kBad ? "problem" : name(finding.verdict));
    json.text("what", finding.what);
    json.text("why", finding.why);
    json.begin_array("advice");
    for (const std::string& advice : finding.advice) json.text({}, advice);
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.text("next", next);
  json.end_object();
  return json.take();
}

int doctor(const DoctorOptions& options) {
  const std::vector<Finding> findings = examine(options);
  const std::string next = next_step(findings, options.targets);
  TextOutput output = TextOutput::standard_output();
  output.put(options.json ? to_json(findings, next) : to_text(findings, next));
  output.finish();
  return problems_of(findings) == 0 ? kExitDone : kExitFailed;
}

}  // namespace

Action declare_doctor(CLI::App& app) {
  const auto options = std::make_shared<DoctorOptions>();
  declare_targets(app, options->words);
  app.option_defaults()->group(kOutputGroup);
  app.add_option("-o,--output", options->folder, "Folder of the planned recording [.]")
      ->check(not_empty("folder"))
      ->type_name("DIR")
      ->default_str(".");
  app.add_flag("--json", options->json, "Print JSON");
  app.add_flag("--no-try", options->no_try, "Do not configure the targets as a test");
  app.footer(
      "Example:\n"
      "  htmtrace doctor --chip 0 --core 4 -o DIR");
  // Replaces "/", so that tests can imitate a machine with files.
  app.add_option("--root", options->root)->group("");
  app.parse_complete_callback([options] {
    if (has_targets(options->words)) options->targets = expand_targets(options->words);
  });
  return [options] { return doctor(*options); };
}

}  // namespace htmtrace

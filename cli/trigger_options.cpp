// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/trigger_options.h"

#include <string>

#include "core/error.h"
#include "pmu/trigger.h"

namespace htmtrace {
namespace {

void declare_trigger(CLI::App& app, const char* name, const char* purpose,
                     std::optional<TriggerWords>& words) {
  app.add_option_function<std::string>(
         name,
         [name, &words](const std::string& text) {
           try {
             words = parse_trigger(text);
           } catch (const Error& error) {
             throw CLI::ValidationError(name, error.what());
           }
         },
         purpose)
      ->type_name("EVENT");
}

}  // namespace

void declare_triggers(CLI::App& app, RecordOptions& options) {
  app.add_flag("--start-paused", options.source.start_paused,
               "Trace nothing before --resume-on's event has happened");
  declare_trigger(app, "--resume-on",
                  "Trace from when this happens on the carrier CPU: sched:sched_switch, "
                  "./PROGRAM:FUNCTION, kprobe:FUNCTION, mem:ADDRESS, page-faults ...",
                  options.source.resume_on);
  declare_trigger(app, "--pause-on", "Stop tracing, until resumed, when this happens there",
                  options.source.pause_on);
  app.add_flag("--bind", options.bind, "Run the workload on the carrier CPUs only");
}

void check_triggers(const RecordOptions& options) {
  const SourceWish& source = options.source;
  if (source.start_paused && !source.resume_on) {
    throw CLI::ValidationError("--start-paused", "nothing would be traced without --resume-on");
  }
  if (source.resume_on && !source.start_paused && !source.pause_on) {
    throw CLI::ValidationError("--resume-on",
                               "it has no effect without --start-paused or --pause-on");
  }
  if (source.resume_on && source.pause_on && source.resume_on->text == source.pause_on->text) {
    throw CLI::ValidationError("--pause-on", "one event cannot both pause and resume");
  }
  if (options.bind && options.workload.empty()) {
    throw CLI::ValidationError("--bind", "there is no workload to bind");
  }
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/record/trigger_options.h"

#include <string>

#include "cli/help.h"
#include "core/base/error.h"
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
  app.option_defaults()->group(kTriggerGroup);
  app.add_flag("--start-paused", options.source.start_paused,
               "Trace nothing until the event of --resume-on");
  declare_trigger(app, "--resume-on", "Resume at EVENT on the carrier CPU, such as kprobe:FUNCTION",
                  options.source.resume_on);
  declare_trigger(app, "--pause-on", "Pause at EVENT on the carrier CPU", options.source.pause_on);
  app.add_flag("--bind", options.bind, "Run the program on the carrier CPUs only");
}

void check_triggers(const RecordOptions& options) {
  const SourceWish& source = options.source;
  if (source.start_paused && !source.resume_on) {
    throw CLI::ValidationError("--start-paused", "requires --resume-on");
  }
  if (source.resume_on && !source.start_paused && !source.pause_on) {
    throw CLI::ValidationError("--resume-on", "requires --start-paused or --pause-on");
  }
  if (source.resume_on && source.pause_on && source.resume_on->text == source.pause_on->text) {
    throw CLI::ValidationError("--pause-on", "one event cannot both pause and resume");
  }
  if (options.bind && options.workload.empty()) {
    throw CLI::ValidationError("--bind", "requires a program to run");
  }
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/record/schedule_options.h"

#include <chrono>
#include <optional>
#include <string>

#include "cli/help.h"
#include "cli/number_from.h"
#include "cli/time_option.h"
#include "cli/units.h"

namespace htmtrace {
namespace {

void declare_time(CLI::App& app, const char* name, const char* purpose,
                  std::optional<std::chrono::nanoseconds>& time) {
  app.add_option_function<std::string>(
         name, [name, &time](const std::string& text) { time = time_of_option(name, text); },
         purpose)
      ->type_name("TIME");
}

std::chrono::nanoseconds parse_rotation(const std::string& text) {
  if (!parse_duration(text) && parse_size(text)) {
    throw CLI::ValidationError("--rotate", text + " is a size; pass a time such as 10s");
  }
  return time_of_option("--rotate", text);
}

// Rounds down to whole pages: a driver moves only whole pages, and this cuts the fewest records.
uint64_t parse_max_size(const std::string& text) {
  constexpr uint64_t kUnit = 4096;
  const auto size = parse_size(text);
  if (!size || *size < kUnit) {
    throw CLI::ValidationError("--max-size",
                               text + " is not a size of at least 4K, such as 500M or 2G");
  }
  return *size / kUnit * kUnit;
}

}  // namespace

void declare_schedule(CLI::App& app, RecordOptions& options) {
  app.option_defaults()->group(kScheduleGroup);
  Schedule& schedule = options.schedule;
  declare_time(app, "--duration", "End after TIME: 500ms, 10s, 2m [end of PROGRAM]",
               schedule.duration);
  app.add_option_function<std::string>(
         "--delay",
         [&schedule](const std::string& text) {
           schedule.start_disabled = text == "-1";
           if (!schedule.start_disabled) schedule.delay = time_of_option("--delay", text);
         },
         "Delay the trace by TIME; with -1, until --control enables it")
      ->type_name("TIME");
  app.add_option("--windows", schedule.windows, "Make N recordings, each as long as --duration")
      ->check(number_from(1))
      ->type_name("N");
  declare_time(app, "--every", "Start a window every TIME [without a break]", schedule.every);
  app.add_option_function<std::string>(
         "--rotate",
         [&schedule](const std::string& text) { schedule.rotate = parse_rotation(text); },
         "Start a new recording after each TIME")
      ->type_name("TIME");
  app.add_option("--keep", schedule.keep, "Keep only the newest N recordings [all]")
      ->check(number_from(1))
      ->type_name("N");
  app.add_option_function<std::string>(
         "--max-size",
         [&options](const std::string& text) { options.max_bytes = parse_max_size(text); },
         "Write at most SIZE bytes of trace in total")
      ->type_name("SIZE");
  app.add_flag("--wrap", options.source.wrap,
               "Keep the newest trace; save it at the end and at each SIGUSR2");
}

void check_schedule(const RecordOptions& options) {
  const Schedule& schedule = options.schedule;
  if (schedule.start_disabled && options.script.control.empty()) {
    throw CLI::ValidationError("--delay", "-1 requires --control");
  }
  if (schedule.windows && !schedule.duration) {
    throw CLI::ValidationError("--windows", "requires --duration");
  }
  if (schedule.every && !schedule.windows) {
    throw CLI::ValidationError("--every", "requires --windows");
  }
  if (schedule.rotate && schedule.windows) {
    throw CLI::ValidationError("--rotate", "cannot be used with --windows");
  }
  if (schedule.keep && !options.numbered()) {
    throw CLI::ValidationError("--keep", "requires --rotate, --windows or --wrap");
  }
  if (schedule.every && *schedule.every < *schedule.duration) {
    throw CLI::ValidationError("--every", "must not be shorter than --duration");
  }
}

}  // namespace htmtrace

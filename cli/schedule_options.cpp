// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/schedule_options.h"

#include <string>

#include "cli/control_channel.h"
#include "cli/number_from.h"
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
    throw CLI::ValidationError(
        "--rotate",
        text + ": how much is in the trace memory shows only when it is saved: give a time");
  }
  return time_of_option("--rotate", text);
}

// Whole pages: a driver moves nothing smaller, and a record is not cut more often than needed.
uint64_t parse_max_size(const std::string& text) {
  constexpr uint64_t kUnit = 4096;
  const auto size = parse_size(text);
  if (!size || *size < kUnit) {
    throw CLI::ValidationError("--max-size",
                               text + ": not a size of 4K at least, such as 500M or 2G");
  }
  return *size / kUnit * kUnit;
}

}  // namespace

std::chrono::nanoseconds time_of_option(const char* option, const std::string& text) {
  if (const auto time = parse_duration(text)) return *time;
  throw CLI::ValidationError(option, text + ": not a time such as 500us, 10ms or 2s");
}

void declare_schedule(CLI::App& app, RecordOptions& options) {
  Schedule& schedule = options.schedule;
  declare_time(app, "--duration",
               "End after this time: 500ms, 10s, 2m (default: when the workload ends, or Ctrl-C)",
               schedule.duration);
  app.add_option_function<std::string>(
         "--delay",
         [&schedule](const std::string& text) {
           schedule.start_disabled = text == "-1";
           if (!schedule.start_disabled) schedule.delay = time_of_option("--delay", text);
         },
         "Begin to trace so long after the workload has started; -1: when --control says enable")
      ->type_name("TIME");
  app.add_option(
         "--windows", schedule.windows,
         "Make so many recordings, each of the time of --duration, in folders 0001, 0002 ...")
      ->check(number_from(1))
      ->type_name("N");
  declare_time(app, "--every",
               "Time from the beginning of a window to that of the next (default: at once)",
               schedule.every);
  app.add_option_function<std::string>(
         "--rotate",
         [&schedule](const std::string& text) { schedule.rotate = parse_rotation(text); },
         "Make one recording after the other, each of this time, in folders 0001, 0002 ...")
      ->type_name("TIME");
  app.add_option("--keep", schedule.keep,
                 "Keep only the newest N of the folders 0001, 0002 ... (default: all)")
      ->check(number_from(1))
      ->type_name("N");
  app.add_option_function<std::string>(
         "--max-size",
         [&options](const std::string& text) { options.max_bytes = parse_max_size(text); },
         "Write no more than this of trace, of all targets together; what is beyond is lost")
      ->type_name("SIZE");
  app.add_option("--control", options.control,
                 "Take commands from fifo:PATH[,ACK] or fd:N[,ACK], and answer them on ACK: "
                 "enable, disable, snapshot, stop, ping")
      ->check(CLI::Validator(ControlChannel::check, ""))
      ->type_name("CHANNEL");
  app.add_flag("--wrap", options.source.wrap,
               "Flight recorder: keep the newest when the trace memory is full, and save it at the "
               "end and at each SIGUSR2, in folders 0001, 0002 ...");
}

void check_schedule(const RecordOptions& options) {
  const Schedule& schedule = options.schedule;
  if (schedule.start_disabled && options.control.empty()) {
    throw CLI::ValidationError("--delay", "nothing would be traced with -1 and without --control");
  }
  if (schedule.windows && !schedule.duration) {
    throw CLI::ValidationError("--windows", "how long is a window? --duration is required");
  }
  if (schedule.every && !schedule.windows) {
    throw CLI::ValidationError("--every", "it has no effect without --windows");
  }
  if (schedule.rotate && schedule.windows) {
    throw CLI::ValidationError("--rotate", "cannot be used with --windows");
  }
  if (schedule.keep && !options.numbered()) {
    throw CLI::ValidationError("--keep", "it has no effect without --rotate, --windows or --wrap");
  }
  if (schedule.every && *schedule.every < *schedule.duration) {
    throw CLI::ValidationError("--every", "a window takes longer, see --duration");
  }
}

}  // namespace htmtrace

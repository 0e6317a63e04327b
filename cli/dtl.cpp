// SPDX-License-Identifier: GPL-2.0-or-later
// htmtrace dtl: options, checks that need no hardware, and the order of things.
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/cpu_list.h"
#include "cli/dtl_capture.h"
#include "cli/units.h"
#include "pmu/dtl_event.h"

namespace htmtrace {
namespace {

constexpr auto kLongestPeriod = std::chrono::seconds(10);
constexpr uint64_t kMostRingBytes = 1 << 30;

struct Wish {
  DtlOptions options;
  bool all_cpus = true;
};

std::chrono::nanoseconds parse_time(const char* option, const std::string& text) {
  const auto time = parse_duration(text);
  if (time) return *time;
  throw CLI::ValidationError(option, text + ": not a time such as 500us, 10ms or 2s");
}

std::optional<std::chrono::nanoseconds> parse_period(const std::string& text) {
  if (text == "auto") return std::nullopt;
  const auto period = parse_time("--period", text);
  if (period.count() < static_cast<int64_t>(kLeastDtlPeriodNs)) {
    throw CLI::ValidationError("--period", text + ": the driver takes 1ms at least");
  }
  if (period > kLongestPeriod) throw CLI::ValidationError("--period", text + ": 10s at most");
  return period;
}

std::vector<int> parse_cpus(const std::string& text) {
  if (const auto cpus = parse_cpu_list(text)) return *cpus;
  throw CLI::ValidationError("--cpu", text + ": not all, nor a list such as 0-7,16");
}

size_t parse_aux_size(const std::string& text) {
  const auto size = parse_size(text);
  if (size && std::has_single_bit(*size) && *size >= DtlRings::kLeastAuxBytes &&
      *size <= kMostRingBytes) {
    return *size;
  }
  throw CLI::ValidationError("-m", text + ": not a power of two from 64K to 1G");
}

int capture(const Wish& wish) {
  DtlOptions options = wish.options;
  if (!options.workload.empty()) check_program(options.workload.front());
  const Fd lock = lock_dtl_pmu();
  if (wish.all_cpus) options.cpus = online_cpus();
  Signals signals;
  DtlCapture run(options, signals);
  signals.watch();
  return run.run();
}

}  // namespace

Action declare_dtl(CLI::App& app) {
  auto wish = std::make_shared<Wish>();
  app.add_option_function<std::string>(
         "--cpu",
         [wish](const std::string& text) {
           wish->all_cpus = text == "all";
           if (!wish->all_cpus) wish->options.cpus = parse_cpus(text);
         },
         "Virtual processors: all, or a list such as 0-7,16")
      ->type_name("LIST")
      ->default_str("all");
  app.add_option(
         "--event", wish->options.event,
         "Entries for dispatches after: cede (the partition gave the processor up), preempt "
         "(end of a time slice), fault (a page of the partition's memory was missing), all")
      ->check(CLI::IsMember({"all", "cede", "preempt", "fault"}).description(""))
      ->type_name("EVENT")
      ->default_str("all");
  app.add_option_function<std::string>(
         "--period", [wish](const std::string& text) { wish->options.period = parse_period(text); },
         "How often the kernel looks at the log: 1ms to 10s, or auto, which tries for a fifth of a "
         "second how fast it fills")
      ->type_name("TIME")
      ->default_str("auto");
  app.add_option_function<std::string>(
         "--duration",
         [wish](const std::string& text) {
           wish->options.duration = parse_time("--duration", text);
         },
         "End after this time: 500ms, 10s, 2m (default: when the workload ends, or Ctrl-C)")
      ->type_name("TIME");
  app.add_option_function<std::string>(
         "-m", [wish](const std::string& text) { wish->options.aux_bytes = parse_aux_size(text); },
         "Size of the AUX ring of each CPU, a power of two with K, M or G (default: 8M, less with "
         "more than 64 CPUs or if the memory-lock limit asks for it)")
      ->type_name("SIZE");
  app.add_option("--threads", wish->options.threads,
                 "Threads that empty the rings (default: one for 96 CPUs)")
      ->check(CLI::Range(1, 64).description(""));
  app.add_option("workload", wish->options.workload,
                 "Program to run and its arguments; put -- first")
      ->type_name("");
  app.positionals_at_end();
  return [wish] { return capture(*wish); };
}

}  // namespace htmtrace

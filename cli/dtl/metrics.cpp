// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/dtl/metrics.h"

#include <utility>

#include "cli/not_empty.h"
#include "cli/time_option.h"
#include "core/base/error.h"
#include "output/io/moment.h"

namespace htmtrace {
namespace {

constexpr auto kLeastMetricsInterval = std::chrono::seconds(1);

std::string no_metrics_to_standard_output(const std::string& file) {
  return file == "-" ? "cannot write metrics to standard output; name a file" : "";
}

}  // namespace

void declare_dtl_metrics(CLI::App& app, DtlMetricsOptions& options) {
  CLI::Option* const file =
      app.add_option("--metrics", options.file, "Write metrics for Prometheus to FILE")
          ->check(not_empty("file"))
          ->check(no_metrics_to_standard_output)
          ->type_name("FILE");
  app.add_option_function<std::string>(
         "--metrics-interval",
         [&options](const std::string& text) {
           options.interval = time_of_option("--metrics-interval", text);
           if (options.interval >= kLeastMetricsInterval) return;
           throw CLI::ValidationError("--metrics-interval", text + " is shorter than 1s");
         },
         "Time between two writes of --metrics, 1s or more [15s]")
      ->needs(file)
      ->type_name("TIME")
      ->default_str("15s");
}

void check_dtl_metrics(const CLI::App& dtl, const DtlMetricsOptions& options,
                       const char* file_format) {
  if (options.file.empty()) return;
  const auto given = [&](const char* option) { return dtl.get_option(option)->count() != 0; };
  if (file_format != nullptr) {
    throw CLI::ValidationError("--metrics",
                               std::string("cannot be used with --format ") + file_format);
  }
  if (given("--check")) {
    throw CLI::ValidationError("--check", "--metrics already counts all entries");
  }
  if (given("--format") && !given("--summary") && !given("--interval")) {
    throw CLI::ValidationError("--format",
                               "has no effect with --metrics; add --summary or --interval");
  }
}

DtlMetricsWriter::DtlMetricsWriter(const DtlMetricsOptions& options, DtlMetrics::About about)
    : options_(options), about_(std::move(about)), start_ns_(now().realtime_ns) {}

void DtlMetricsWriter::put(DtlMetrics metrics, bool running) {
  metrics.about = about_;
  metrics.recorder = {.running = running, .start_ns = start_ns_, .write_errors = errors_};
  write_metrics(options_.file, metrics, limit_);
}

std::optional<std::string> DtlMetricsWriter::write(DtlMetrics metrics, bool running) {
  next_ = Clock::now() + options_.interval;
  try {
    put(std::move(metrics), running);
    failing_ = false;
    return std::nullopt;
  } catch (const Error& error) {
    errors_++;
    failing_ = true;
    return error.what();
  }
}

}  // namespace htmtrace

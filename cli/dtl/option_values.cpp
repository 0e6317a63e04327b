// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/dtl/option_values.h"

#include <CLI/CLI.hpp>
#include <bit>
#include <cstdio>

#include "cli/cpu_list.h"
#include "cli/dtl/source.h"
#include "cli/time_option.h"
#include "cli/units.h"
#include "pmu/dtl_event.h"

namespace htmtrace {
namespace {

constexpr auto kLongestPeriod = std::chrono::seconds(10);
constexpr auto kShortestInterval = std::chrono::milliseconds(1);
constexpr uint64_t kMostRingBytes = 1 << 30;

}  // namespace

std::optional<std::chrono::nanoseconds> parse_period(const std::string& text) {
  if (text == "auto") return std::nullopt;
  const auto period = time_of_option("--period", text);
  if (period.count() < static_cast<int64_t>(kLeastOwnDtlPeriodNs)) {
    throw CLI::ValidationError("--period", text + " is shorter than 100us");
  }
  if (period > kLongestPeriod) throw CLI::ValidationError("--period", text + " is longer than 10s");
  return period;
}

std::vector<int> parse_cpus(const std::string& text) {
  if (const auto cpus = parse_cpu_list(text)) return *cpus;
  throw CLI::ValidationError("--cpu", text + " is neither all nor a list such as 0-7,16");
}

size_t parse_aux_size(const std::string& text) {
  const auto size = parse_size(text);
  if (size && std::has_single_bit(*size) && *size >= DtlRings::kLeastAuxBytes &&
      *size <= kMostRingBytes) {
    return *size;
  }
  throw CLI::ValidationError("-m", text + " is not a power of two from 64K to 1G");
}

// "8,12"
ProcessorBits parse_bits(const std::string& text) {
  ProcessorBits bits;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%2u,%2u%c", &bits.chip, &bits.node, &rest) == 2 &&
      bits.chip <= bits.node && bits.node <= 16) {
    return bits;
  }
  throw CLI::ValidationError("--processor-bits", text + " is not two numbers such as 8,12");
}

DtlFormat parse_format(const std::string& text) {
  if (text == "text") return DtlFormat::kText;
  if (text == "json") return DtlFormat::kJson;
  if (text == "csv") return DtlFormat::kCsv;
  throw CLI::ValidationError("--format", text + " is not one of: text, json, csv, perf, perfetto");
}

DtlIntervals parse_intervals(const std::string& text) {
  const auto length = time_of_option("--interval", text);
  if (length >= kShortestInterval) return {static_cast<uint64_t>(length.count())};
  throw CLI::ValidationError("--interval", text + " is shorter than 1ms");
}

DtlTopOrder parse_order(const std::string& text) {
  if (text == "stolen") return DtlTopOrder::kStolen;
  if (text == "latency") return DtlTopOrder::kLatency;
  if (text == "dispatches") return DtlTopOrder::kDispatches;
  if (text == "moved") return DtlTopOrder::kMoved;
  return DtlTopOrder::kCpu;
}

// Seconds since boot.
uint64_t parse_since_boot(const char* option, const std::string& text) {
  if (const auto moment = parse_moment(text)) return *moment;
  throw CLI::ValidationError(option,
                             text + " is not a time such as 12.345678901 (seconds since boot)");
}

}  // namespace htmtrace

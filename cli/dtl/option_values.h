// SPDX-License-Identifier: GPL-2.0-or-later
// Parses the values of dtl's options. The functions throw CLI::ValidationError.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/dispatches/output.h"
#include "output/report/dtl_top.h"

namespace htmtrace {

// Returns nothing for "auto".
std::optional<std::chrono::nanoseconds> parse_period(const std::string& text);
std::vector<int> parse_cpus(const std::string& text);
size_t parse_aux_size(const std::string& text);
ProcessorBits parse_bits(const std::string& text);
DtlFormat parse_format(const std::string& text);
DtlIntervals parse_intervals(const std::string& text);
DtlTopOrder parse_order(const std::string& text);
uint64_t parse_since_boot(const char* option, const std::string& text);

}  // namespace htmtrace

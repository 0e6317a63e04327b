// SPDX-License-Identifier: GPL-2.0-or-later
// The targets that a command line selects: lists of indices, whole targets, or both.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/target.h"

namespace htmtrace {

struct TargetWords {
  // --node, --chip, --core, --type: every combination of them is a target.
  std::vector<uint32_t> nodes;  // empty: node 0
  std::vector<uint32_t> chips;
  std::vector<uint32_t> cores;
  std::vector<HtmType> types = {HtmType::kCore};
  // --target: additional targets.
  std::vector<TraceTarget> targets;
  bool accepts_targets = false;  // the command has the option --target
};

// "0-3,8" as 0 1 2 3 8. The functions that parse throw CLI::ValidationError for `option`.
std::vector<uint32_t> parse_indices(const std::string& option, const std::string& text);

// "0-7,16" as CPU numbers.
std::vector<int> cpus_of_option(const std::string& option, const std::string& text);

// "core,nest".
std::vector<HtmType> parse_types(const std::string& text);

// "node=0,chip=1,core=12,type=core". The default node is 0, the default type is core.
TraceTarget parse_target(const std::string& text);

// Returns each target once, in the order of the command line. Throws CLI::RequiredError if the chip
// is missing, or the core of a type with cores.
std::vector<TraceTarget> expand_targets(const TargetWords& words);

}  // namespace htmtrace

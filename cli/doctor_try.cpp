// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/doctor_try.h"

#include <fmt/core.h>

#include <string_view>

#include "cli/htm_source.h"
#include "core/error.h"

namespace htmtrace {
namespace {

using Verdict = Finding::Verdict;

constexpr const char* kSubject = "target";

std::string reasons_of(const Error& error) {
  constexpr std::string_view kMark = "reason: ";
  std::string text;
  for (std::string_view subject : error.subjects()) {
    if (subject.starts_with(kMark)) subject.remove_prefix(kMark.size());
    text += fmt::format("{}{}", text.empty() ? "" : "; ", subject);
  }
  return text;
}

Finding try_target(const TraceTarget& target) {
  try {
    SourceWish wish;
    wish.targets = {target};
    const Sources sources = open_sources(wish);
    return {Verdict::kGood,
            kSubject,
            describe(target) + ": htmtrace configured and released it",
            "",
            {}};
  } catch (const Error& error) {
    return {Verdict::kBad, kSubject, error.what(), reasons_of(error), error.hints()};
  }
}

}  // namespace

std::vector<Finding> try_targets(const std::vector<TraceTarget>& targets) {
  std::vector<Finding> findings;
  findings.reserve(targets.size());
  for (const TraceTarget& target : targets) findings.push_back(try_target(target));
  return findings;
}

Finding untried_target(const std::string& why) {
  return {Verdict::kUnknown, kSubject, "not tried: " + why, "", {}};
}

bool is_target_finding(const Finding& finding) {
  return finding.subject == kSubject;
}

}  // namespace htmtrace

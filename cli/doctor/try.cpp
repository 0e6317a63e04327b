// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/doctor/try.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "cli/capture/htm_source.h"
#include "core/base/error.h"

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

Finding try_together(const std::vector<TraceTarget>& targets, const std::string& success) {
  try {
    SourceWish wish;
    wish.targets = targets;
    const Sources sources = open_sources(wish);
    return {Verdict::kGood, kSubject, success, "", {}};
  } catch (const Error& error) {
    return {Verdict::kBad, kSubject, error.what(), reasons_of(error), error.hints()};
  }
}

}  // namespace

std::vector<Finding> try_targets(const std::vector<TraceTarget>& targets) {
  std::vector<Finding> findings;
  findings.reserve(targets.size() + 1);
  for (const TraceTarget& target : targets) {
    findings.push_back(
        try_together({target}, describe(target) + ": htmtrace configured and released it"));
  }
  const bool all_good = std::ranges::all_of(
      findings, [](const Finding& finding) { return finding.verdict == Verdict::kGood; });
  if (targets.size() > 1 && all_good) {
    findings.push_back(try_together(
        targets, fmt::format("htmtrace configured all {} targets together", targets.size())));
  }
  return findings;
}

Finding untried_target(const std::string& why) {
  return {Verdict::kUnknown, kSubject, "not tried: " + why, "", {}};
}

bool is_target_finding(const Finding& finding) {
  return finding.subject == kSubject;
}

}  // namespace htmtrace

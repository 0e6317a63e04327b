// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/traces/processes.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/messages.h"
#include "cli/similar_names.h"
#include "cli/traces/symbols.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/selection/process_selection.h"

namespace htmtrace {
namespace {

constexpr const char* kHowToProve = "record a workload as root with --symbols, for at least 50 ms";

void check_selected(const PageOwners& owners, const std::string& text, const std::string& trace) {
  std::vector<const Process*> all = owners.processes(/*provable=*/true);
  all.push_back(&Process::kernel());
  all.push_back(&Process::unknown());
  const auto is_named = [&](const Process* one) { return ProcessSelection::names(text, *one); };
  if (std::ranges::any_of(all, is_named)) return;
  if (std::ranges::any_of(owners.processes(/*provable=*/false), is_named)) {
    throw Error(fmt::format("cannot use --process {}: the pages of {} do not prove this process",
                            text, trace))
        .hint("for the reasons, see PROCESSES in htmtrace-decode(1)");
  }
  SimilarNames similar(text);
  for (const Process* one : all) similar.offer(one->command.empty() ? one->name : one->command);
  Error error(
      fmt::format("cannot use --process {}: no page of {} belongs to such a process", text, trace));
  const std::string question = similar.question();
  if (!question.empty()) error = std::move(error).hint(question);
  throw std::move(error).hint(owners.has_provable()
                                  ? "htmtrace report --processes lists the processes of a trace"
                                  : kHowToProve);
}

}  // namespace

PageOwners load_owners(const ChosenTrace& trace, const TraceOptions& options) {
  PageOwners owners = load_page_owners(trace.path);
  for (const std::string& text : options.processes) check_selected(owners, text, trace.name());
  if (!owners.has_provable() && !options.quiet) {
    print_note(fmt::format(
        "the processes of {} are unknown: the recording has no pages that prove a process ({})",
        trace.name(), kHowToProve));
  }
  return owners;
}

void warn_of_contradictions(uint64_t contradictions, const std::string& trace) {
  if (contradictions == 0) return;
  print_warning(
      fmt::format("{}: code changed from one process to another {} without a change of "
                  "the address space; the process of some instructions may be wrong",
                  trace, counted(contradictions, "time")));
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/dispatches/verdict.h"

#include <fmt/core.h>

#include "cli/commands.h"
#include "cli/messages.h"
#include "core/base/counted.h"

namespace htmtrace {

bool warn_of_defects(const DtlReader& reader, const std::string& name) {
  if (reader.damaged_bytes() != 0) {
    print_warning(fmt::format("{}: skipped {} of damage, the first at {}", name,
                              counted(reader.damaged_bytes(), "byte"), *reader.first_damage()));
  }
  if (reader.contradictions() != 0) {
    print_warning(
        fmt::format("{}: the statistics of {} of entries are wrong; counted the entries instead",
                    name, counted(reader.contradictions(), "group")));
  }
  if (!reader.end()) {
    print_warning(
        fmt::format("{}: the recorder did not finish; up to one second of entries is missing, and "
                    "earlier losses are unknown",
                    name));
  }
  return reader.damaged_bytes() != 0 || reader.contradictions() != 0 || !reader.end();
}

void print_verdict(const DtlReader& reader, uint64_t taken) {
  if (reader.end()) print_lines(reader.end()->text);
  const uint64_t passed_by = reader.passed_by();
  std::string trusted;
  if (passed_by != 0) {
    trusted = fmt::format(
        "; {} of them by the statistics in the file, which were trusted and not recomputed "
        "(--check "
        "recomputes them)",
        passed_by);
  }
  print_note(fmt::format("{} of {}{}", taken, counted(reader.entries(), "entry"), trusted));
}

int replay_status(const DtlReader& reader, bool incomplete) {
  incomplete |= reader.end() && reader.end()->status != kExitDone;
  return incomplete ? kExitIncomplete : kExitDone;
}

}  // namespace htmtrace

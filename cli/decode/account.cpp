// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/decode/account.h"

#include <fmt/core.h>

#include "cli/messages.h"
#include "cli/traces/context.h"
#include "cli/traces/selection_options.h"
#include "core/core_trace/words.h"

namespace htmtrace {

void DecodeAccount::tell(const std::string& statistics) {
  if (options_.summary) {
    output_.put(statistics);
  } else if (!options_.traces.quiet) {
    output_.flush();  // so that a terminal shows the events ahead of the statistics
    print_text(statistics);
  }
}

void DecodeAccount::tell_wrap(const std::string& name, uint64_t oldest) {
  if (options_.traces.quiet) return;
  output_.flush();
  print_note(
      fmt::format("{} had wrapped: decoded from its oldest byte, {:#x}, from which offsets "
                  "count (--file-order decodes from the first byte)",
                  name, oldest));
}

void DecodeAccount::add(const TraceBytes& bytes, const CoreStatistics& statistics,
                        const TranslationReport& map) {
  const std::string& name = bytes.file().name();
  if (bytes.wrapped_at()) tell_wrap(name, *bytes.wrapped_at());
  totals_.add(statistics);
  if (statistics.incomplete() || map.damaged()) incomplete_ = true;
  if (bytes.ended() && tell_trouble(bytes.file())) incomplete_ = true;
  if (statistics.no_tags()) {
    tell_no_tags(name);
  } else if (statistics.bytes == 0) {
    if (bytes.ended()) print_warning(fmt::format("{} is empty", name));
  } else if (statistics.accounted_bytes() == statistics.filler_words * words::kWordBytes) {
    print_warning(fmt::format("{} contains only zeros", name));
  }
  tell(fmt::format("{}\n{}{}", name, describe(statistics),
                   map.size_bytes != 0 ? describe(map) : ""));
}

void DecodeAccount::add(const NestResult& result, const TranslationReport& map) {
  totals_.add(result.statistics);
  totals_.add_selected(result.selected);
  if (result.cut || result.statistics.incomplete() || map.damaged()) incomplete_ = true;
  if (output_.reader_gone()) return;
  tell(result.text + (map.size_bytes != 0 ? describe(map) : ""));
}

void DecodeAccount::add_selected(uint64_t selected, const InputFile& file) {
  totals_.add_selected(selected);
  if (!options_.traces.quiet && !output_.reader_gone()) {
    warn_if_never_entered(options_.traces.selection, selected, file.name());
  }
}

int DecodeAccount::finish(bool missing) const {
  // The totals are those of the part before the reader left.
  if (!options_.traces.quiet && !output_.reader_gone()) print_note(describe(totals_));
  return exit_status(options_.traces, totals_, incomplete_ || missing);
}

}  // namespace htmtrace

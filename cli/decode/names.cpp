// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/decode/names.h"

#include "cli/traces/lines.h"
#include "core/base/error.h"

namespace htmtrace {

DecodeNames::DecodeNames(const DecodeOptions& options, const CoreFieldNeeds& needs)
    : options_(options), prints_symbols_(options.symbols || needs.symbols) {
  if (!prints_symbols_) return;
  names_.emplace(options.names, options.traces);
  if (symbols()->empty()) {
    throw Error("cannot print symbols: no symbols found")
        .hint("pass --kallsyms or --elf, or record as root, without --no-symbols");
  }
  if (needs.lines) lines_ = open_lines(*symbols(), options.lines);
}

void DecodeNames::enter(const ChosenTrace& trace) {
  if (!names_ && options_.traces.names.empty()) return;
  if (!names_) names_.emplace(options_.names, options_.traces);
  selected_ = names_->enter(trace);
}

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/decode/names.h"

#include "cli/traces/lines.h"
#include "cli/traces/named_symbols.h"
#include "cli/traces/symbols.h"
#include "core/base/error.h"

namespace htmtrace {

DecodeNames::DecodeNames(const DecodeOptions& options, const CoreFieldNeeds& needs)
    : options_(options), prints_symbols_(options.symbols || needs.symbols) {
  if (!prints_symbols_) return;
  symbols_ = load_symbols(options.names, options.traces);
  if (symbols_->empty()) {
    throw Error("cannot print symbols: no symbols found")
        .hint("pass --kallsyms or --elf, or record as root, without --no-symbols");
  }
  if (needs.lines) lines_ = open_lines(*symbols_, options.lines);
}

const NameSelection* DecodeNames::selected() {
  if (options_.traces.names.empty()) return nullptr;
  if (!symbols_) symbols_ = load_symbols(options_.names, options_.traces);
  if (!selected_) selected_ = resolve(options_.traces.names, *symbols_);
  return &*selected_;
}

}  // namespace htmtrace

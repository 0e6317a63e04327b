// SPDX-License-Identifier: GPL-2.0-or-later
// The index that lies beside a trace, if there is one, and what it spares. htmtrace-index(5).
#pragma once

#include <filesystem>
#include <optional>

#include "cli/traces/bytes.h"
#include "cli/traces/choice.h"
#include "core/selection/index.h"
#include "core/selection/selection.h"
#include "output/io/input_file.h"

namespace htmtrace {

std::filesystem::path index_path(const ChosenTrace& trace);

// The bytes of a core trace, from the place on where what is selected can begin with its lead: the
// first byte, unless there is an index and it helps. An index that does not fit the trace is
// reported on stderr. Throws Error.
TraceBytes selected_bytes(const ChosenTrace& trace, InputFile& input, const Selection& selection,
                          uint64_t limit, bool file_order, Lead lead = Lead::kNone);

// Returns the usable index of a nest trace that is read in this layout.
std::optional<NestIndex> find_nest_index(const ChosenTrace& trace, const InputFile& input,
                                         nest::Layout layout);

// Notes on stderr that the statistics cover only a part of the trace.
void tell_part(const InputFile& input);

}  // namespace htmtrace

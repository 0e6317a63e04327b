// SPDX-License-Identifier: GPL-2.0-or-later
// The index that lies beside a trace, if there is one, and what it spares. htmtrace-index(5).
#pragma once

#include <filesystem>
#include <optional>

#include "cli/trace_bytes.h"
#include "cli/trace_choice.h"
#include "core/selection.h"
#include "core/trace_index.h"
#include "output/input_file.h"

namespace htmtrace {

std::filesystem::path index_path(const ChosenTrace& trace);

// The bytes of a core trace, from the place on where what is selected can begin with its lead: the
// first byte, unless there is an index and it helps. One that does not fit the trace is told of on
// stderr. Throws Error.
TraceBytes selected_bytes(const ChosenTrace& trace, InputFile& input, const Selection& selection,
                          uint64_t limit, bool file_order, Lead lead = Lead::kNone);

// The index of a nest trace that is read in this layout, likewise.
std::optional<NestIndex> find_nest_index(const ChosenTrace& trace, const InputFile& input,
                                         nest::Layout layout);

// Tells on stderr that the statistics are not of all of the trace.
void tell_part(const InputFile& input);

}  // namespace htmtrace

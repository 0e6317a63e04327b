// SPDX-License-Identifier: GPL-2.0-or-later
// The index beside a trace, which lets a reader skip parts of the trace. htmtrace-index(5).
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

// Returns the bytes of a core trace. With a helpful index, they begin shortly before the selection
// and its lead. Otherwise, they begin with the oldest byte or, in file order, with the first byte.
// Warns on stderr about an index that does not match the trace. Throws Error.
TraceBytes selected_bytes(const ChosenTrace& trace, InputFile& input, const Selection& selection,
                          uint64_t limit, bool file_order, Lead lead = Lead::kNone);

// Returns the usable index of a nest trace that is read in this layout.
std::optional<NestIndex> find_nest_index(const ChosenTrace& trace, const InputFile& input,
                                         nest::Layout layout);

// Notes on stderr that the statistics cover only a part of the trace.
void tell_part(const InputFile& input);

}  // namespace htmtrace

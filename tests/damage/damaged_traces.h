// SPDX-License-Identifier: GPL-2.0-or-later
// Decodes `count` damaged traces of a kind and prints the result. Ends the process if a trace is
// decoded incorrectly.
#pragma once

namespace htmtrace {

void decode_damaged_core_traces(unsigned count);
void decode_damaged_nest_traces(unsigned count);

}  // namespace htmtrace

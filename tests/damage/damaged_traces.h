// SPDX-License-Identifier: GPL-2.0-or-later
// Decodes `count` damaged traces of a kind, says what came out, and ends the process when one of
// them was not decoded as it should be.
#pragma once

namespace htmtrace {

void decode_damaged_core_traces(unsigned count);
void decode_damaged_nest_traces(unsigned count);

}  // namespace htmtrace

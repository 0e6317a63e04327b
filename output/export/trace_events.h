// SPDX-License-Identifier: GPL-2.0-or-later
// The events that all timelines for Perfetto share, in the JSON trace event format ("Trace Event
// Format", the Chromium project): an object with an array of events.
#pragma once

#include <optional>
#include <string_view>

#include "output/io/json_writer.h"

namespace htmtrace {

// `json` has a layout of one line.
void begin_trace_events(JsonWriter& json);
void end_trace_events(JsonWriter& json);

// Begins an event. `phase` is its kind, such as "X" for a slice. Some events belong to a process
// (`pid`) without a thread.
void begin_event(JsonWriter& json, std::string_view phase, int pid, std::optional<int> tid);

// Writes an event of metadata that names a process or a thread.
void put_name(JsonWriter& json, std::string_view kind, int pid, std::optional<int> tid,
              std::string_view name);

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/export/trace_events.h"

namespace htmtrace {

void begin_trace_events(JsonWriter& json) {
  json.begin_object();
  json.text("displayTimeUnit", "ns");
  json.begin_array("traceEvents");
}

void end_trace_events(JsonWriter& json) {
  json.end_array();
  json.end_object();
}

void begin_event(JsonWriter& json, std::string_view phase, int pid, std::optional<int> tid) {
  json.begin_object();
  json.text("ph", phase);
  json.number("pid", pid);
  if (tid) json.number("tid", *tid);
}

void put_name(JsonWriter& json, std::string_view kind, int pid, std::optional<int> tid,
              std::string_view name) {
  begin_event(json, "M", pid, tid);
  json.text("name", kind);
  json.begin_object("args");
  json.text("name", name);
  json.end_object();
  json.end_object();
}

}  // namespace htmtrace

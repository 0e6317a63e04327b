// SPDX-License-Identifier: GPL-2.0-or-later
// The contract between the reader of a nest trace and its consumers, including the optional
// members. A caller uses an optional member only if the consumer satisfies its concept.
#pragma once

#include <optional>

#include "core/base/address.h"
#include "core/core_trace/sink.h"
#include "core/nest_trace/events.h"

namespace htmtrace::nest {

// Receives all events of a trace in the order of their times. Optional: satisfied(), as in a sink
// for core traces (is_satisfied()).
template <class Sink>
concept EventSink = requires(Sink& sink, const Event& event) {
  sink.event(event);
};

// Receives the selected events. A command whose address belongs to the partition has a logical
// address.
template <class Sink>
concept SelectedSink = requires(Sink& sink, const Event& event, std::optional<LogicalAddr> la) {
  sink.event(event, la);
};

// Receives the selected commands that carry an address.
template <class Sink>
concept CommandSink = requires(Sink& sink, const Event& event, const Command& command,
                               std::optional<LogicalAddr> la) {
  sink.command(event, command, la);
};

// Optional: void seen(const Command&)
// Receives all selected commands, each ahead of command().
template <class Sink>
concept HasSeen = requires(Sink& sink, const Command& command) {
  sink.seen(command);
};

}  // namespace htmtrace::nest

// SPDX-License-Identifier: GPL-2.0-or-later
// The contract between the decoder of a core trace and its consumers, the sinks.
//
// A sink receives events from a CoreDecoder, or from a SelectingSink that passes on the selected
// events. Each sink has the members of CoreSink. All other members are optional, and this header
// lists them all. A caller uses an optional member only if the sink satisfies its concept. A member
// function with other parameters, such as begin_trace(std::string), is not part of the contract.
#pragma once

#include <cstdint>

#include "core/core_trace/events.h"
#include "core/core_trace/radix_walk.h"
#include "core/memory_map/owners.h"
#include "core/memory_map/process.h"

namespace htmtrace {

// Events of one kind arrive in trace order. A defect arrives at the end of its range.
template <class Sink>
concept CoreSink = requires(Sink& sink, const Instruction& instruction, const Stamp& stamp,
                            const Defect& defect) {
  sink.instruction(instruction);
  sink.stamp(stamp);
  sink.defect(defect);
};

// ---- Optional members that CoreDecoder uses

// bool satisfied() const
// Returns true if the sink needs no further event. Decoding ends, and no instruction follows.
template <class Sink>
concept HasSatisfied = requires(const Sink& sink) {
  sink.satisfied();
};
template <class Sink>
[[gnu::always_inline]] inline bool is_satisfied(const Sink& sink) {
  if constexpr (HasSatisfied<Sink>) {
    return sink.satisfied();
  } else {
    return false;
  }
}

// void walk(const Walk&)
// Receives each walk through page tables ahead of the walk's instruction. The decoder follows walks
// only after follow_walks() or follow_raw_walks(), because walks take time.
template <class Sink>
concept HasWalk = requires(Sink& sink, const Walk& walk) {
  sink.walk(walk);
};

// static constexpr bool kCountsOnly = true
// The sink needs only the decoder's statistics: it does not receive every instruction.
template <class Sink>
concept CountsOnly = Sink::kCountsOnly;

// class Rows
// Receives runs of plain POWER10 instructions page by page, which is faster than instruction(). The
// decoder constructs a Rows from the sink at the start of a run and calls these members:
//   enter(EffectiveAddr, RealAddr, LogicalAddr, bool has_la): the page of the next instructions
//   instruction(EffectiveAddr, uint32_t opcode, uint16_t modes), also with a DataAccess: all modes
//     are known
//   finish(): precedes any other call of the sink, sometimes twice in a row
// The sink also has
//   bool in_rows() const: Rows can currently handle the instructions
template <class Sink>
concept HasRows = requires {
  typename Sink::Rows;
};

// class NamedRows, bool in_named_rows() const
// A class with the members of Rows. The decoder uses it if in_rows() returns false and
// in_named_rows() returns true.
template <class Sink>
concept HasNamedRows = requires {
  typename Sink::NamedRows;
};

// ---- Optional members that SelectingSink uses

// A position in a trace.
struct TracePlace {
  uint64_t instructions = 0;
  uint64_t ticks = 0;
  bool operator==(const TracePlace&) const = default;
};
// The position in the trace of `place`, a position in the part that begins at `base`.
constexpr TracePlace sum(const TracePlace& base, const TracePlace& place) {
  return {base.instructions + place.instructions, base.ticks + place.ticks};
}

// void at(const TracePlace&)
// Receives the position of each instruction ahead of the instruction, selected or not, and the
// position of the end of the trace. With `Selection::last`, the instructions arrive after all
// positions.
template <class Sink>
concept HasAt = requires(Sink& sink, const TracePlace& place) {
  sink.at(place);
};

// void process(const Process&)
// Receives the process of the next instructions, selected or not, when it changes. The caller finds
// processes only on request (wants_processes()). Before the first call, the process is unknown. The
// process outlives the trace's events.
template <class Sink>
concept HasProcess = requires(Sink& sink, const Process& process) {
  sink.process(process);
};

// void unselected(const Instruction&), void unselected(const Stamp&), void unselected(const Walk&)
// Receive the events that are not selected.
template <class Sink, class Event>
concept HasUnselected = requires(Sink& sink, const Event& event) {
  sink.unselected(event);
};

// void skipped()
// Reports an instruction that is not selected to a sink without unselected(const Instruction&).
template <class Sink>
concept HasSkipped = requires(Sink& sink) {
  sink.skipped();
};

// ---- Optional members that the reader of a trace uses (read_core)

// The part of the trace before the selection that a sink needs.
enum class Lead : uint8_t {
  kNone,
  kTicks,  // from the last stamp with ticks on
  kAll,    // the whole trace
};

// static constexpr Lead kLead
template <class Sink>
concept HasLead = requires {
  Sink::kLead;
};
template <class Sink>
constexpr Lead lead_of() {
  if constexpr (HasLead<Sink>) {
    return Sink::kLead;
  } else {
    return Lead::kNone;
  }
}

// void begin_trace(const MemoryOwners&)
// Receives the owners of the memory before the first event. The owners outlive the trace's events.
template <class Sink>
concept HasBeginTrace = requires(Sink& sink, const MemoryOwners& owners) {
  sink.begin_trace(owners);
};

// bool wants_walks() const
// Returns true if the decoder must follow raw walks.
template <class Sink>
concept HasWantsWalks = requires(const Sink& sink) {
  sink.wants_walks();
};
template <class Sink>
bool wants_walks(const Sink& sink) {
  if constexpr (HasWantsWalks<Sink>) {
    return sink.wants_walks();
  } else {
    return false;
  }
}

// bool wants_processes() const
// Returns true if the reader must find the processes and call process(). Then one thread passes all
// events in the order of the trace, without parts: the proof of a process may be in another part.
template <class Sink>
concept HasWantsProcesses = requires(const Sink& sink) {
  sink.wants_processes();
};
template <class Sink>
bool wants_processes(const Sink& sink) {
  if constexpr (HasWantsProcesses<Sink>) {
    return sink.wants_processes();
  } else {
    return false;
  }
}

// class Part, Part new_part() const, void take(Part&)
// Lets several threads count a trace. A Part is a sink for a part of the current trace. Its member
// clear() makes it empty. Several threads may call new_part() at the same time. One thread passes
// the parts to take() in the order of the trace. take() leaves each part empty.
//
// void take(Part&, const TracePlace& base)
// Replaces take(Part&) if the Part has the member at(). The position of an event in the trace is
// the sum of `base` and the position that at() received.
template <class Sink>
concept HasPlacedParts = requires(Sink& sink, const Sink& same, typename Sink::Part& part,
                                  const TracePlace& base) {
  same.new_part();
  sink.take(part, base);
};
template <class Sink>
concept HasParts = HasPlacedParts<Sink> ||
    requires(Sink& sink, const Sink& same, typename Sink::Part& part) {
  same.new_part();
  sink.take(part);
};

}  // namespace htmtrace

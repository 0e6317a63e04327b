// SPDX-License-Identifier: GPL-2.0-or-later
// A short trace of one core, which is searched for markers and not saved.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>

#include "cli/capture/htm_source.h"
#include "core/analysis/marker.h"
#include "core/core_trace/decoder.h"
#include "core/memory_map/translation.h"
#include "ringbuf/htm_drain.h"

namespace htmtrace {

class TargetTrace {
 public:
  // The rings of `source` are mapped. The markers outlive this object.
  TargetTrace(HtmSource source, std::span<const Marker> markers);
  TargetTrace(const TargetTrace&) = delete;
  TargetTrace& operator=(const TargetTrace&) = delete;

  const TraceTarget& target() const { return source_.target(); }

  // Starts the trace. Throws Error.
  void start() const { source_.enable(); }
  // Returns true once the core is traced. Throws Error if the hypervisor refuses it.
  bool begun();

  // Reads the next part of the trace; the first call ends tracing. Returns false after the last
  // part. Throws Error if the rest cannot be read.
  bool read_part();
  uint64_t read_bytes() const { return drain_.totals().trace_bytes; }

  // The number of complete passes of the marker with this index, so far.
  uint64_t passes(size_t marker) const { return search_.passes(marker); }

 private:
  void throw_refusal() const;

  HtmSource source_;
  TranslationMap no_map_;  // markers need no addresses
  MarkerSearch search_;
  CoreDecoder<MarkerSearch> decoder_;
  HtmDrain drain_;
  bool complete_ = false;  // the memory map follows the trace
  std::chrono::milliseconds waited_{0};
};

}  // namespace htmtrace

// SPDX-License-Identifier: GPL-2.0-or-later
// Writes manifest.json, which describes a recording and its losses (htmtrace-manifest(5)).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/loss.h"
#include "core/base/target.h"
#include "output/io/moment.h"
#include "output/recording/host_facts.h"
#include "output/recording/ledger.h"

namespace htmtrace {

inline constexpr const char* kManifestFormat = "htmtrace-manifest";
inline constexpr uint64_t kManifestVersion = 1;

struct Manifest {
  // The result of the recording. A manifest with kRecording is left over from a recorder that was
  // killed or a machine that stopped.
  enum class State : uint8_t { kRecording, kComplete, kIncomplete, kFailed };

  // An event that paused or resumed a trace.
  struct Trigger {
    const char* action = "";  // "pause" or "resume"
    std::string event;
    uint64_t times = 0;  // count of events on the carrier CPU
  };

  struct Target {
    TraceTarget target;
    int carrier_cpu = 0;
    const char* driver =
        nullptr;  // which driver traced, recognized by its records; null if unknown
    uint64_t data_ring_bytes = 0;
    uint64_t aux_ring_bytes = 0;
    std::string trace_file;
    uint64_t trace_bytes = 0;         // bytes of trace content
    uint64_t trace_stored_bytes = 0;  // the size of the file
    bool trace_compressed = false;
    std::optional<uint64_t> trace_beginning;  // CRC-32C of the first kBeginningBytes of trace
    Proof trace_proof = Proof::kNotProvable;
    std::optional<uint64_t> delivered_bytes;  // the amount that the driver reports
    std::optional<uint64_t>
        memory_bytes;  // memory of the macro; empty if the driver does not report the size
    std::optional<bool> memory_full;  // the trace then lacks its beginning or its end
    bool wraps = false;               // the trace wraps: a full memory loses the beginning
    std::string translation_file;
    uint64_t translation_bytes = 0;
    uint64_t translation_blocks = 0;
    uint64_t translation_entries = 0;
    Proof translation_proof = Proof::kNotProvable;
    std::optional<uint64_t> translation_delivered_bytes;
    uint64_t enabled_ns = 0;
    uint64_t running_ns = 0;
    bool start_paused = false;
    std::vector<Trigger> triggers;
  };

  struct Workload {
    std::vector<std::string> command;
    int64_t pid = 0;
    std::optional<uint64_t> exit_status;  // both empty: still running when the recording ended
    std::optional<uint64_t> signal;
    struct CpuTime {
      int cpu = 0;
      uint64_t ns = 0;
    };
    // Run times of the workload and its descendants on each CPU, if known.
    std::optional<std::vector<CpuTime>> cpus;
  };

  State state = State::kRecording;
  std::string tool_version;
  HostFacts host;
  std::optional<Moment> started;  // when tracing was enabled
  std::optional<Moment> stopped;  // when draining began; the first read stops the trace
  std::optional<Moment> ended;    // when the last byte was written
  std::optional<Workload> workload;
  std::vector<Target> targets;
  Ledger ledger;
  std::vector<std::string> errors;  // errors that ended the recording early

  std::string to_json() const;
};

}  // namespace htmtrace

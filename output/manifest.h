// SPDX-License-Identifier: GPL-2.0-or-later
// manifest.json: what a recording is and what is missing in it (htmtrace-manifest(5)).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/trace_target.h"
#include "output/host_facts.h"
#include "output/ledger.h"
#include "output/moment.h"

namespace htmtrace {

inline constexpr const char* kManifestName = "manifest.json";
inline constexpr uint64_t kManifestVersion = 1;

struct Manifest {
  // How far the recording got. A manifest that still says kRecording was left by a recorder that
  // was killed or a machine that went down.
  enum class State : uint8_t { kRecording, kComplete, kIncomplete, kFailed };
  // Whether the amounts can be checked against what the driver says it delivered.
  enum class Proof : uint8_t { kProven, kNotProvable, kViolated };

  // An event that paused or resumed a trace.
  struct Trigger {
    const char* action = "";  // "pause" or "resume"
    std::string event;
    uint64_t times = 0;  // how often it happened on the carrier CPU
  };

  struct Target {
    TraceTarget target;
    int carrier_cpu = 0;
    const char* driver = nullptr;  // whose it is, by what came; nothing when nothing told
    uint64_t data_ring_bytes = 0;
    uint64_t aux_ring_bytes = 0;
    std::string trace_file;
    uint64_t trace_bytes = 0;         // of trace in the file
    uint64_t trace_stored_bytes = 0;  // the size of the file
    bool trace_compressed = false;
    std::optional<uint64_t> trace_beginning;  // CRC-32C of the first kBeginningBytes of trace
    Proof trace_proof = Proof::kNotProvable;
    std::optional<uint64_t> delivered_bytes;  // what the driver says it sent
    std::optional<uint64_t> memory_bytes;     // of the macro; nothing when the driver does not tell
    std::optional<bool> memory_full;          // and so its beginning or its end is missing
    bool wraps = false;                       // the beginning
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
    std::optional<uint64_t> exit_status;  // neither: still running when the recording ended
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
  std::optional<Moment> started;  // the trace was enabled
  std::optional<Moment> stopped;  // draining began; the first read stops the trace
  std::optional<Moment> ended;    // the last byte was written
  std::optional<Workload> workload;
  std::vector<Target> targets;
  Ledger ledger;
  std::vector<std::string> errors;  // what ended the recording early

  std::string to_json() const;
};

}  // namespace htmtrace

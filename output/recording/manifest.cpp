// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/recording/manifest.h"

#include <string_view>

#include "core/base/processor.h"
#include "output/io/hex_text.h"
#include "output/io/json_writer.h"

namespace htmtrace {
namespace {

const char* name(Manifest::State state) {
  switch (state) {
    case Manifest::State::kRecording:
      return "recording";
    case Manifest::State::kComplete:
      return "complete";
    case Manifest::State::kIncomplete:
      return "incomplete";
    case Manifest::State::kFailed:
      return "failed";
  }
  return "unknown";
}

const char* name(Proof proof) {
  switch (proof) {
    case Proof::kProven:
      return "proven";
    case Proof::kNotProvable:
      return "not provable";
    case Proof::kViolated:
      return "violated";
  }
  return "unknown";
}

const char* name(LossUnit unit) {
  switch (unit) {
    case LossUnit::kBytes:
      return "bytes";
    case LossUnit::kRecords:
      return "records";
    case LossUnit::kEntries:
      return "entries";
    case LossUnit::kUnknown:
      return "unknown";
  }
  return "unknown";
}

std::string hexadecimal(std::string_view bytes) {
  std::string text(2 * bytes.size(), '0');
  char* to = text.data();
  for (const char byte : bytes) to = put_hex_digits(to, static_cast<uint8_t>(byte), 2);
  return text;
}

void write_host(JsonWriter& json, const HostFacts& host) {
  json.begin_object("host");
  json.text("kernel_release", host.kernel_release);
  json.text("kernel_version", host.kernel_version);
  if (host.kernel_build_id.empty()) {
    json.null("kernel_build_id");
  } else {
    json.text("kernel_build_id", hexadecimal(host.kernel_build_id));
  }
  json.text("machine", host.machine);
  const Processor* processor = host.pvr ? find_processor(*host.pvr) : nullptr;
  if (processor != nullptr) {
    json.text("processor", processor->name);
  } else {
    json.null("processor");
  }
  json.number("pvr", host.pvr);
  json.number("page_size", host.page_size_bytes);
  json.number("timebase_hz", host.timebase_hz);
  json.end_object();
}

void write_moment(JsonWriter& json, const char* key, const std::optional<Moment>& moment) {
  if (!moment) return json.null(key);
  json.begin_object(key);
  json.number("realtime_ns", moment->realtime_ns);
  json.number("monotonic_ns", moment->monotonic_ns);
  json.end_object();
}

void write_workload(JsonWriter& json, const std::optional<Manifest::Workload>& workload) {
  if (!workload) return json.null("workload");
  json.begin_object("workload");
  json.begin_array("command");
  for (const std::string& word : workload->command) json.text({}, word);
  json.end_array();
  json.number("pid", workload->pid);
  json.number("exit_status", workload->exit_status);
  json.number("signal", workload->signal);
  if (!workload->cpus) {
    json.null("cpus");
  } else {
    json.begin_array("cpus");
    for (const Manifest::Workload::CpuTime& time : *workload->cpus) {
      json.begin_object();
      json.number("cpu", int64_t{time.cpu});
      json.number("run_ns", time.ns);
      json.end_object();
    }
    json.end_array();
  }
  json.end_object();
}

void write_target(JsonWriter& json, const Manifest::Target& target) {
  json.begin_object();
  json.number("node", uint64_t{target.target.node});
  json.number("chip", uint64_t{target.target.chip});
  json.number("core", uint64_t{target.target.core});
  json.text("type", htm_type_name(target.target.type));
  json.number("carrier_cpu", int64_t{target.carrier_cpu});
  if (target.driver == nullptr)
    json.null("driver");
  else
    json.text("driver", target.driver);
  json.number("data_ring_bytes", target.data_ring_bytes);
  json.number("aux_ring_bytes", target.aux_ring_bytes);
  json.number("enabled_ns", target.enabled_ns);
  json.number("running_ns", target.running_ns);
  json.boolean("wrap", target.wraps);
  json.boolean("start_paused", target.start_paused);
  json.begin_array("triggers");
  for (const Manifest::Trigger& trigger : target.triggers) {
    json.begin_object();
    json.text("action", trigger.action);
    json.text("event", trigger.event);
    json.number("times", trigger.times);
    json.end_object();
  }
  json.end_array();
  json.begin_object("trace");
  json.text("file", target.trace_file);
  json.number("bytes", target.trace_bytes);
  if (target.trace_compressed)
    json.text("compression", "zstd");
  else
    json.null("compression");
  json.number("stored_bytes", target.trace_stored_bytes);
  json.number("beginning_crc32c", target.trace_beginning);
  json.text("completeness", name(target.trace_proof));
  json.number("delivered_bytes", target.delivered_bytes);
  json.number("memory_bytes", target.memory_bytes);
  if (target.memory_full)
    json.boolean("memory_full", *target.memory_full);
  else
    json.null("memory_full");
  json.end_object();
  json.begin_object("translation");
  json.text("file", target.translation_file);
  json.number("bytes", target.translation_bytes);
  json.number("blocks", target.translation_blocks);
  json.number("entries", target.translation_entries);
  json.text("completeness", name(target.translation_proof));
  json.number("delivered_bytes", target.translation_delivered_bytes);
  json.end_object();
  json.end_object();
}

void write_losses(JsonWriter& json, const Ledger& ledger) {
  json.begin_array("losses");
  for (const Ledger::Entry& entry : ledger.entries()) {
    json.begin_object();
    if (entry.target.empty())
      json.null("target");
    else
      json.text("target", entry.target);
    json.text("place", entry.loss.place);
    json.text("cause", entry.loss.cause);
    json.text("unit", name(entry.loss.unit));
    if (entry.loss.unit == LossUnit::kUnknown)
      json.null("amount");
    else
      json.number("amount", entry.loss.amount);
    json.number("occurrences", entry.occurrences);
    json.number("position", entry.loss.position);
    write_moment(json, "first", entry.first);
    write_moment(json, "last", entry.last);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string Manifest::to_json() const {
  JsonWriter json;
  json.begin_object();
  json.text("format", kManifestFormat);
  json.number("version", kManifestVersion);
  json.text("state", name(state));
  json.number("partition_id", host.partition_id);
  json.text("tool_version", tool_version);
  write_host(json, host);
  json.begin_object("times");
  write_moment(json, "started", started);
  write_moment(json, "stopped", stopped);
  write_moment(json, "ended", ended);
  json.end_object();
  write_workload(json, workload);
  json.begin_array("targets");
  for (const Target& target : targets) write_target(json, target);
  json.end_array();
  write_losses(json, ledger);
  json.begin_array("errors");
  for (const std::string& error : errors) json.text({}, error);
  json.end_array();
  json.end_object();
  return json.take();
}

}  // namespace htmtrace

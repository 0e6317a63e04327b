// SPDX-License-Identifier: GPL-2.0-or-later
// The frame of a perf.data file with samples: its header, its features, and all records except the
// samples. Layouts: include/uapi/linux/perf_event.h and
// tools/perf/Documentation/perf.data-file-format.txt of Linux.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "output/export/perf_file.h"
#include "output/export/perf_maps.h"
#include "output/export/perf_sampling.h"
#include "output/io/text_output.h"

namespace htmtrace {

// The numbers of PERF_RECORD_MISC_CPUMODE_MASK.
enum class PerfMode : uint16_t { kKernel = 1, kUser = 2, kHypervisor = 3 };

// A process and its thread, as records contain them: the thread is in the high half.
enum class PerfTask : uint64_t {
  kKernel = 0,
  kUnknown = ~uint64_t{0},  // perf's number for no process and no thread
};
constexpr PerfTask perf_task(uint64_t pid) {
  return static_cast<PerfTask>(pid << 32 | (pid & 0xffffffff));
}

class PerfRecords {
 public:
  // Writes the start of the file: the names of all tasks, the kernel's code, and the mappings of
  // the known processes. Requires TextOutput::can_rewrite() and an empty output. The arguments must
  // outlive this object.
  PerfRecords(TextOutput& output, const PerfSampling& sampling, const PerfMaps& maps);

  // Sets the time of the next records. The time must never fall.
  void set_time(uint64_t time) { time_ = time; }
  uint64_t time() const { return time_; }

  // Writes a whole record. Throws Error.
  void put(std::span<const std::byte> record);
  // Writes a record that states that `records` records were lost.
  void put_lost(uint64_t records);
  void put_mapping(PerfTask task, const PerfMaps::Mapping& mapping);
  // Removes the names of these addresses.
  void put_memory(PerfTask task, uint64_t begin, uint64_t end);

  // Writes the end of the file, and then its header. `version` is htmtrace's.
  void finish(const std::string& version);

 private:
  // perf holds all records in memory up to the second FINISHED_ROUND after them.
  static constexpr uint64_t kRoundBytes = 1 << 20;

  void put_mapping(PerfTask task, const PerfMaps::Mapping& mapping, const PerfMaps::File& file);
  void put_mapping2(PerfTask task, PerfMode mode, const PerfMaps::Mapping& mapping,
                    const PerfMaps::File& file, PerfTask trailer);
  void put_command(PerfTask task, const std::string& command);
  void put_kernel(const PerfMaps::Kernel& kernel);
  void put_trailer(perf_file::FileBytes& to, PerfTask task) const;
  perf_file::FileBytes attribute() const;

  TextOutput& output_;
  const PerfSampling sampling_;
  const PerfMaps& maps_;
  uint64_t time_ = 0;
  uint64_t data_bytes_ = 0;
  uint64_t round_end_ = kRoundBytes;
};

}  // namespace htmtrace

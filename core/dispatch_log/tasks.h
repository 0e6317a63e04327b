// SPDX-License-Identifier: GPL-2.0-or-later
// The current task of a virtual processor, from the kernel's context switches in time order. A
// dispatch belongs to the task of the last earlier switch. A virtual processor that ceded ran the
// idle task.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace htmtrace {

struct DtlTask {
  static constexpr uint32_t kUnknown = UINT32_MAX;  // the kernel's value for a task that has exited

  uint32_t pid = kUnknown, tid = kUnknown;

  static DtlTask of_key(uint64_t key) {
    return {static_cast<uint32_t>(key >> 32), static_cast<uint32_t>(key)};
  }
  uint64_t key() const { return uint64_t{pid} << 32 | tid; }
  bool known() const { return tid != kUnknown; }
  bool idle() const { return tid == 0; }
  bool operator==(const DtlTask&) const = default;
};

inline constexpr DtlTask kIdleTask{.pid = 0, .tid = 0};

// `task` is current from this time of perf's clock on.
struct DtlSwitch {
  uint64_t ns = 0;
  DtlTask task;

  bool operator==(const DtlSwitch&) const = default;
};

// The tasks of one virtual processor from the first switch up to and including `until_ns`.
struct DtlSwitches {
  std::vector<DtlSwitch> switches;
  uint64_t until_ns = 0;
};

class DtlTaskTrack {
 public:
  // Adds a switch with the kernel's report of both tasks. A time that goes backward counts as the
  // last time.
  void switched(uint64_t ns, DtlTask from, DtlTask to);
  // All switches so far are known, and `task` is current.
  void observed(DtlTask task);
  // Switches after the last known switch are lost. The next switch ends the gap.
  void lost();
  // All switches up to this time are known.
  void cover(uint64_t ns);

  // Appends a part from take_new(). The tasks in a gap between two parts are unknown.
  void append(const DtlSwitches& part);

  // Unknown for a time that is not covered or was forgotten. Fast for ascending times.
  DtlTask at(uint64_t ns);
  // The caller needs no task earlier than `ns`.
  void forget(uint64_t ns);

  // The number of switches for which there is memory.
  size_t capacity() const { return known_.capacity(); }
  // Forgets all switches except the last, and frees their memory.
  void release();

  // The number of switches that take_new() will return.
  size_t fresh() const { return known_.size() - taken_; }
  // For a file: the switches since the last call, as a self-contained part. Empty if nothing
  // changed.
  std::optional<DtlSwitches> take_new();

 private:
  // Limits the memory of a recording without dispatches, which never calls forget(). At the limit,
  // the older half is dropped.
  static constexpr size_t kMostSwitches = 1 << 17;

  void add(uint64_t ns, DtlTask task);
  void drop(size_t count);

  // Includes unknown tasks. Valid from the time of the first element on.
  std::vector<DtlSwitch> known_{{.ns = 0, .task = {}}};
  uint64_t until_ns_ = 0;
  size_t place_ = 0;  // index of the last queried time
  size_t taken_ = 0;  // number of switches that take_new() has returned
  uint64_t taken_until_ns_ = 0;
  bool lossless_ = true;  // no loss since known_.back()
};

}  // namespace htmtrace

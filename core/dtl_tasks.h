// SPDX-License-Identifier: GPL-2.0-or-later
// Which task was on a virtual processor: what the kernel's context switches say, in the order of
// their time. A dispatch is of the task that was switched to last before it; a virtual processor
// that gave itself up had the idle task.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace htmtrace {

struct DtlTask {
  static constexpr uint32_t kUnknown = UINT32_MAX;  // so does the kernel call one that is gone

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

// `task` is there from this time of perf's clock on.
struct DtlSwitch {
  uint64_t ns = 0;
  DtlTask task;

  bool operator==(const DtlSwitch&) const = default;
};

// All that is known of one virtual processor from the first switch up to `until_ns`, included.
struct DtlSwitches {
  std::vector<DtlSwitch> switches;
  uint64_t until_ns = 0;
};

class DtlTaskTrack {
 public:
  // A switch, of which the kernel tells both tasks. Times that go back count as the last one.
  void switched(uint64_t ns, DtlTask from, DtlTask to);
  // All switches until now have been told, and this task is there.
  void observed(DtlTask task);
  // Switches after the last one have not been told. The next one ends that.
  void lost();
  // All switches up to this time have been told.
  void cover(uint64_t ns);

  // A part that was taken with take_new(). What lies between it and the one before is not known.
  void append(const DtlSwitches& part);

  // Unknown of a time that is not covered, or was forgotten. Quick when times ascend.
  DtlTask at(uint64_t ns);
  // Nobody will ask for what was before this time.
  void forget(uint64_t ns);

  // How many switches take_new() has to tell.
  size_t fresh() const { return known_.size() - taken_; }
  // For a file: what came since the last call; complete in itself. Nothing when that is nothing.
  std::optional<DtlSwitches> take_new();

 private:
  // Somebody who records without dispatches does not forget; of so many switches the older half is.
  static constexpr size_t kMostSwitches = 1 << 17;

  void add(uint64_t ns, DtlTask task);
  void drop(size_t count);

  // What is not known is there, too. From the time of the first on.
  std::vector<DtlSwitch> known_{{.ns = 0, .task = {}}};
  uint64_t until_ns_ = 0;
  size_t place_ = 0;  // of the time asked for last
  size_t taken_ = 0;  // up to there a file has it
  uint64_t taken_until_ns_ = 0;
  bool lossless_ = true;  // since known_.back()
};

}  // namespace htmtrace

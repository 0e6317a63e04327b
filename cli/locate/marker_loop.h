// SPDX-License-Identifier: GPL-2.0-or-later
// A thread that runs a marker on one CPU.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <thread>

#include "core/analysis/marker.h"

namespace htmtrace {

class MarkerLoop {
 public:
  // True if htmtrace was compiled for the 64-bit ELFv2 ABI of POWER, so that it can run a marker.
  static bool supported();

  // The marker runs when the constructor returns. Throws Error, for example if no thread of this
  // process may run on the CPU.
  MarkerLoop(int cpu, const Marker& marker);
  ~MarkerLoop();
  MarkerLoop(const MarkerLoop&) = delete;
  MarkerLoop& operator=(const MarkerLoop&) = delete;

  pid_t thread() const { return thread_id_; }

  // The marker does not run any more when this returns.
  void stop();

  // The number of rounds so far. A round passes through the marker kPassesOfRound times.
  static constexpr uint64_t kPassesOfRound = 256;
  uint64_t rounds() const { return rounds_.load(std::memory_order_relaxed); }

 private:
  void map_code(const Marker& marker);
  void unmap_code();
  void run();

  int cpu_;
  std::span<uint32_t> code_;  // a mapping of its own
  std::atomic<bool> stop_ = false;
  std::atomic<uint64_t> rounds_ = 0;
  std::atomic<int> failure_ = 0;  // an errno
  std::atomic<pid_t> thread_id_ = 0;
  std::optional<std::thread> thread_;
};

}  // namespace htmtrace
